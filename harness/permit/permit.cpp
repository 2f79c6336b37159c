#include "harness/permit/permit.hpp"

namespace symmcts {

Permit decide_permit(DriverKind driver, const PermitEnvironment& environment) {
  if (driver == DriverKind::software) return {true, "the driver is the software platform"};
  if (driver == DriverKind::none) return {false, "no multicast permit: no CUDA driver is loaded"};
  if (!environment.allow_multicast) {
    return {false, "no multicast permit: real driver, and --allow-multicast was not given"};
  }
  if (!environment.forbidding.empty()) {
    return {false, "no multicast permit: " + environment.forbidding.front() + " is set"};
  }
  return {true, "--allow-multicast on a real driver"};
}

Status check_expected_driver(const LoadedDriver& driver, const PermitEnvironment& environment) {
  if (!environment.expected) {
    return Error{"SYMMCTS_EXPECT=" + environment.expected_text + " is neither software nor real"};
  }
  const ExpectedDriver expected = *environment.expected;
  if (expected == ExpectedDriver::anything) return {};
  const DriverKind wanted =
      expected == ExpectedDriver::software ? DriverKind::software : DriverKind::real;
  if (driver.kind == wanted) return {};
  std::string text = std::string("refused: this process was told to use ") +
                     (wanted == DriverKind::software ? "the software platform" : "a real driver") +
                     ", but ";
  if (driver.kind == DriverKind::none) return Error{text + "no CUDA driver is loaded"};
  text += driver.kind == DriverKind::real ? "the CUDA driver is a real one"
                                          : "the CUDA driver is the software platform";
  if (!driver.path.empty()) text += " (" + driver.path + ")";
  return Error{text};
}

}  // namespace symmcts

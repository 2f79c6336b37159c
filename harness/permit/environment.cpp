#include "harness/permit/environment.hpp"

#include <cstdlib>

namespace symmcts {
namespace {

// Does the text, as an integer, equal zero? "0", "00" and "0x0" do; "" and "off" are no numbers.
bool is_zero(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const long long number = std::strtoll(copy.c_str(), &end, 0);
  return end != copy.c_str() && number == 0;
}

}  // namespace

bool forbids_multicast(const DisableVariable& variable, std::string_view text) {
  if (variable.value == "0") return is_zero(text);
  return !text.empty() && text != "0";
}

PermitEnvironment read_permit_environment() {
  PermitEnvironment environment;
  for (const DisableVariable& variable : kDisableVariables) {
    const char* text = std::getenv(std::string(variable.name).c_str());
    if (text != nullptr && forbids_multicast(variable, text)) {
      environment.forbidding.push_back(std::string(variable.name) + "=" + text);
    }
  }
  const char* permit = std::getenv("SYMMCTS_PERMIT");
  environment.allow_multicast = permit != nullptr && std::string_view(permit) == "1";

  const char* expect = std::getenv("SYMMCTS_EXPECT");
  environment.expected_text = expect != nullptr ? expect : "";
  if (environment.expected_text == "software") {
    environment.expected = ExpectedDriver::software;
  } else if (environment.expected_text == "real") {
    environment.expected = ExpectedDriver::real;
  } else if (!environment.expected_text.empty()) {
    environment.expected.reset();
  }
  return environment;
}

}  // namespace symmcts

#pragma once

#include <string>

#include "harness/permit/driver_kind.hpp"
#include "harness/permit/environment.hpp"
#include "harness/support/result.hpp"

namespace symmcts {

// The exit code of a process that refuses to go on for lack of a permit or for the wrong driver.
inline constexpr int kRefused = 3;

struct Permit {
  bool granted = false;
  std::string reason;  // one line: why it was granted or refused
};

// The one decision whether multicast objects may be created (design, section 3). Software: always.
// Real: only if the user passed --allow-multicast and no variable forbids it. None: never.
Permit decide_permit(DriverKind driver, const PermitEnvironment& environment);

// Fails, with one line to print, if a process that was told which machine to use finds another one,
// or was told something that is neither. Call before cuInit; on failure exit with kRefused.
Status check_expected_driver(const LoadedDriver& driver, const PermitEnvironment& environment);

}  // namespace symmcts

#pragma once

#include <cstdint>
#include <string>

#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// Something that a process did with the driver which a real one crashes on or never hears of. Holds
// no value of a handle: those of garbage would differ from run to run.
struct Misuse {
  // "garbage-handle", "use-after-release", "double-release"; or "leak": left when the process
  // ended.
  std::string kind;
  std::string what;         // "physical handle", "mapping", "reservation", "stream", "event", ...
  std::string call;         // the call that was made; of a leak, the one that made the first left
  Ns at = 0;                // host clock of that call
  std::uint64_t count = 1;  // of a leak, how many were left
};

// For people, without the rank: "double release of a physical handle in cuMemRelease".
std::string misuse_text(const Misuse& misuse);

}  // namespace symmcts::platform

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/processes.hpp"
#include "harness/launch/request.hpp"

namespace symmcts::launch {

// The two clocks of a unit: time since something moved, and time in all. Something moves when a
// watched file grows or touch() is called. Host time: these are the last resort; on the platform
// the broker reports a deadlock long before.
class Watchdog {
 public:
  Watchdog(const Patience& patience, std::vector<std::filesystem::path> files,
           Clock::time_point now);

  void touch(Clock::time_point now) { moved_ = now; }
  // Looks at the files. Returns why the unit counts as hung, or an empty string.
  std::string look(Clock::time_point now);

 private:
  Patience patience_;
  std::vector<std::filesystem::path> files_;
  std::uint64_t bytes_ = 0;
  Clock::time_point started_, moved_;
};

// Size in bytes; 0 for a file that is not there.
std::uint64_t size_of(const std::filesystem::path& file);

}  // namespace symmcts::launch

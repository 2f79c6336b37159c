#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/processes.hpp"
#include "harness/launch/request.hpp"

namespace symmcts::launch {

// The clocks of a unit: time in all, and time since something moved. Something moves when a watched
// file grows or touch() is called. Both start when every rank has begun its evidence: how long
// broker, launcher and programs take to start is no property of what is tested, and has a bound of
// its own. Host time: these are the last resort; on the platform the broker reports a deadlock long
// before.
class Watchdog {
 public:
  // `evidence`: a file a rank; `others` count as movement too.
  Watchdog(const Patience& patience, std::vector<std::filesystem::path> evidence,
           std::vector<std::filesystem::path> others, Clock::time_point now);

  void touch(Clock::time_point now) { moved_ = now; }
  // The start is over whatever the files say: a rank has ended.
  void begin(Clock::time_point now);
  // Looks at the files. Returns why the unit counts as hung, or an empty string.
  std::string look(Clock::time_point now);
  // After look(): why the start counts as failed, or an empty string.
  std::string start_problem(Clock::time_point now) const;

 private:
  Patience patience_;
  std::vector<std::filesystem::path> evidence_, others_;
  std::uint64_t bytes_ = 0;
  std::size_t waiting_ = 0;  // ranks without evidence
  bool begun_ = false;
  Clock::time_point started_, moved_;
};

// Size in bytes; 0 for a file that is not there.
std::uint64_t size_of(const std::filesystem::path& file);

}  // namespace symmcts::launch

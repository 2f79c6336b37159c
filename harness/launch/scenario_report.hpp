#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace symmcts::launch {

// A rank that the scenario has killed or stopped: whatever becomes of it is nobody's fault.
struct Victim {
  int rank = -1;
  bool stopped = false;  // it stands still, and never ends by itself
  std::string text;      // "rank 1: is killed before cuMemMap, call 1"
};

// The victims so far, by the broker's report, in its order. A file that is not there has none.
std::vector<Victim> read_victims(const std::filesystem::path& report);

// The `fault` lines of what the scenario had in store and what has not come to be, in the
// scenario's order.
std::vector<std::string> faults_that_never_were(const std::filesystem::path& report);

}  // namespace symmcts::launch

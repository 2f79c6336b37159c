#pragma once

#include <filesystem>
#include <string>

namespace symmcts::launch {

// What a rank's raw evidence says about how far it came.
struct RankState {
  int rank = 0;
  bool header = false;
  bool footer = false;     // it ended by itself
  bool verdict = false;    // the case of this unit has ended on this rank
  bool truncated = false;  // the last line is cut off
  std::string phase;       // of its last `phase` mark; empty before the first
  std::string where;       // blocking call that it is in, or empty
  std::string problem;     // first line that is no evidence, with its number; or empty
};

// Reads the file to its present end. A file that is missing gives a state with nothing in it.
RankState read_rank_state(const std::filesystem::path& file, int rank, const std::string& unit);

}  // namespace symmcts::launch

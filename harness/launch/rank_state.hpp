#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace symmcts::launch {

// Why a rank says that it ends without a verdict (the `give-up` mark).
enum class GaveUp : std::uint8_t {
  no,        // it did not say so
  refusal,   // something of ours, or a rule of the house
  threw,     // the implementation threw
  lost_peer  // another rank is gone
};

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
  GaveUp gave_up = GaveUp::no;
  std::string gave_up_text;
  int lost = -1;  // the rank that is gone

  // It did all that it had to do, and said so.
  bool finished() const { return header && footer && verdict; }
  // The implementation under test has been in control: every step of it has a phase.
  bool implementation_ran() const { return !phase.empty(); }
};

// Reads the file to its present end. A file that is missing gives a state with nothing in it.
RankState read_rank_state(const std::filesystem::path& file, int rank, const std::string& unit);

}  // namespace symmcts::launch

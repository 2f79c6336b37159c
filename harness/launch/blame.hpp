#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/launch/run_directory.hpp"
#include "harness/launch/unit_result.hpp"

namespace symmcts::launch {

// Exit code of symmcts-rank for an infrastructure error.
inline constexpr int kRankRefused = 3;

// A rank that ended otherwise than with a verdict, and whose doing that was.
struct Fault {
  enum class Whose : std::uint8_t {
    implementation,  // it ended the rank: by a signal, an exit, an exception
    harness,         // the rank program refused, or could not do its own part
    other_rank,      // the rank could not go on because another one was gone
  };
  Whose whose = Whose::harness;
  int rank = -1;                               // -1: some rank, it is not known which
  int lost = -1;                               // other_rank: that one
  int order = 0;                               // among the ends of all programs
  std::chrono::steady_clock::time_point at{};  // when the supervisor learnt of it
  bool processor = false;                      // by a signal for what the program did, as SIGSEGV
  std::string text;
  bool killed = false;       // by SIGKILL
  std::optional<Exit> told;  // how the rank ended, where its launcher told us
};

// The faults of a unit whose programs have ended, the first to end first. Of ends that fall
// together one by the processor comes first: the kernel closes what a process held, and its peers
// see that, before it tells of the process's end; and nobody commits such a fault because a peer
// has gone. A rank that the scenario killed or stopped has none. What a rank's own evidence says of
// its end counts; else how its program ended; with mpirun, what mpirun says of the rank that ended
// first. A rank that was ended by the supervisor has none.
std::vector<Fault> read_faults(const RunDirectory& directory, const UnitResult& result);

// Whether the scenario has killed or stopped that rank.
bool is_victim(const UnitResult& result, int rank);

// " in phase bind" of that rank; empty where none is known.
std::string in_phase(const UnitResult& result, int rank);

}  // namespace symmcts::launch

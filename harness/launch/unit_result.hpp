#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/launch/command.hpp"
#include "harness/launch/rank_state.hpp"
#include "harness/launch/scenario_report.hpp"

namespace symmcts::launch {

// How a unit ended. Only `done` says that every rank gave its verdict; the verdicts themselves are
// in the evidence. `lost`: the scenario took ranks away, and the others ended without them.
enum class End { done, hang, crash, lost, error };
const char* end_name(End end);

// One program of the unit and how it ended.
struct Program {
  std::string name;
  int rank = -1;  // -1: broker or launcher
  int pid = -1;
  bool ended = false;
  int order = 0;                               // of its end, among those of all programs
  std::chrono::steady_clock::time_point at{};  // when the supervisor learnt of its end
  Exit exit;
};

struct UnitResult {
  std::string unit;
  std::string run;  // run_name of the request
  std::vector<std::string> ids;
  End end = End::error;
  std::string text;  // why, in one line; empty for `done`
  // Of a crash: whose doing it was, where that is known; not those that could not go on without it.
  std::vector<int> blamed;
  // Somebody outside interfered (killed a rank, the broker, the reaper): what follows would prove
  // nothing, so the run ends here.
  bool stop = false;
  std::vector<RankState> ranks;
  std::vector<Program> programs;
  std::vector<Victim> victims;  // of the scenario
};

}  // namespace symmcts::launch

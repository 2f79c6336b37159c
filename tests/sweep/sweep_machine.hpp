#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sweep_case.hpp"

namespace symmcts::sweep {

// What came of a run, rank by rank. One that was taken away has neither verdict nor findings.
struct SweepOutcome {
  std::string problem;                  // the machine did not start, a rank did not end, ...
  std::map<int, std::string> verdicts;  // of the rendezvous
  std::vector<std::string> wrong;       // what ranks found wrong, with the rank in front
  std::map<int, std::string> traces;    // where they were asked for
  std::vector<std::string> befell;      // the `fault` lines of the machine
  std::multiset<std::string> left;      // what processes left behind: "rank 0: 1 stream"
};

// Runs one rendezvous on a machine of its own: broker and ranks, each a process, until the last has
// ended. A rank that the case stops is ended when the others have. `befalls` empty: nothing goes
// wrong. Leaves no process and no file. Precondition: single threaded; no driver call was made.
SweepOutcome run_once(const Place& place, const std::optional<SweepCase>& befalls, bool trace);

}  // namespace symmcts::sweep

#pragma once

#include <optional>
#include <string>

#include "harness/launch/flood.hpp"
#include "harness/launch/run_directory.hpp"
#include "harness/launch/unit_result.hpp"

namespace symmcts::launch {

// What the supervisor itself saw while the unit ran.
struct Seen {
  bool reaper_lost = false;
  bool broker_died = false;  // before the ranks had ended
  std::string problem;       // infrastructure: a program that did not start
  std::optional<Flood> flood;
  int vanished = -1;  // a rank that died unnoticed by its launcher
  std::string hang;   // why the unit hangs, with each rank's phase; empty: it does not
};

// Sets `end`, `text`, `blamed` and `stop` of a unit whose programs have all ended, from what was
// seen, from how they ended and from what the ranks left. What the implementation did is a crash,
// what we did or failed to do an error. Only a rank that ended cleanly and left a whole evidence
// file with the verdict of the case counts as done: the rest is never green. Ranks that the
// scenario took away are nobody's doing (`lost`); what the others did about it is.
void classify(const Seen& seen, const RunDirectory& directory, UnitResult& result);

}  // namespace symmcts::launch

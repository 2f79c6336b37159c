#pragma once

#include <string>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

// A hang with what every rank's own evidence adds to what the machine or the supervisor said.
struct Hanging {
  std::vector<evidence::HungRank> ranks;  // sorted; phase and call of each, as far as is known
  bool empty_object = false;         // somebody waits for a fresh object that a late import got
  std::vector<std::string> objects;  // one text an object
  std::string source_text;

  // "rank 0 waits in cuMulticastBindMem (phase bind), ...; object ...: devices missing: ...".
  std::string text() const;
};

// The unit's hangs; one without a `hang` line, from the supervisor's `unit` line alone, counts too.
std::vector<Hanging> read_hangs(const evidence::EvidenceSet& set);

// One line for each rank that a signal ended, or that ended without a footer, where the unit did
// not hang: "rank 1 was ended by signal 9 (phase bind)".
std::vector<std::string> read_crashes(const evidence::EvidenceSet& set);

// Whether the scenario took ranks away and the others ended without them.
bool lost_ranks(const evidence::EvidenceSet& set);

// The ranks whose doing the unit's crash was; empty where nobody has said.
std::vector<int> crashed_ranks(const evidence::EvidenceSet& set);

// One line for each step of the implementation that failed (`outcome` marks): "rank 1 in
// cuMemRelease with code 700 (phase teardown): text".
std::vector<std::string> read_failed_steps(const evidence::EvidenceSet& set);

// Ids for which any hang or crash in a case about them is a fail (design section 5). SM-LIFE-1 is
// not one: it needs the cause shown (lifetime_explains_hang).
bool covers_hangs(const std::string& id);

// The unit's harness errors (`unit` lines with end "error"), one line each.
std::vector<std::string> read_errors(const evidence::EvidenceSet& set);

}  // namespace symmcts::judge

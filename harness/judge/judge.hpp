#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/options.hpp"
#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

// Copies of one rank's measured phase, by kind ("DtoD", "PtoP", "HtoD", ...).
struct RankSummary {
  int rank = -1;
  int host = 0;
  int device = -1;                             // ordinal in the rank's process; -1 unknown
  std::map<std::string, std::int64_t> copies;  // device copies over 16 bytes
  std::map<std::string, std::int64_t>
      host_copies;                              // to, from and within host memory, over 16 bytes
  std::map<std::string, std::int64_t> signals;  // 16 bytes and less
};

// The judgement of one unit, or of several merged.
struct Judgement {
  std::vector<Verdict> verdicts;          // sorted by id, one an id
  std::vector<Observation> observations;  // reported, not judged
  std::vector<RankSummary> ranks;         // sorted by rank
  std::vector<std::string> uncovered;     // incidents that no requirement covers: exit 4
  std::vector<std::string> notes;         // damage, missing ranks, clocks
};

// Ids that the judge has rules for, sorted.
const std::vector<std::string>& judged_ids();

// Judges one unit's evidence. Never fails: what the evidence cannot show is `unknown`.
Judgement judge(const evidence::EvidenceSet& set, const JudgeOptions& options = {});

// One unit's judgement, its name, and the ids its case is about (declared_ids).
struct UnitJudgement {
  std::string unit;
  std::vector<std::string> ids;
  Judgement judgement;
};

// One judgement of several units. Per id: error, then fail, wins from any unit; a unit whose case
// is about the id and could not tell makes it unknown; else pass, skipped, unknown, in that order
// of preference. Summaries add up; a reason names the unit it comes from.
Judgement merge(const std::vector<UnitJudgement>& units);

// Ids that the unit's case says it is about: its marks' and machine lines' `ids`, sorted, unique.
std::vector<std::string> declared_ids(const evidence::EvidenceSet& set);

}  // namespace symmcts::judge

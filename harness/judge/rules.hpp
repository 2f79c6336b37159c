#pragma once

#include <vector>

#include "harness/judge/context.hpp"
#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

// The rules, one area a file. Each returns a verdict for every id it is for, `unknown` where the
// evidence cannot tell; `again` is filled in later.
std::vector<Verdict> judge_provenance(const Context& context);  // SM-PROV-1, SM-PROV-2
std::vector<Verdict> judge_copy_kind(const Context& context);   // SM-KIND-1, SM-KIND-2
std::vector<Verdict> judge_overlap(const Context& context);     // SM-OVLP-1, SM-OVLP-2
std::vector<Verdict> judge_lifetime(const Context& context);    // SM-LIFE-1
std::vector<Verdict> judge_data(const Context& context);        // SM-DATA-1, SM-DATA-3

// SM-DATA-3; checks of the rank program that failed are added by the caller, as for every id.
Verdict judge_races(const Context& context);

// Whether a hang of the unit has the cause that SM-LIFE-1 is about: somebody waits for an empty
// object, or stands in bind or map while some rank imported an object too late.
bool lifetime_explains_hang(const Context& context);

}  // namespace symmcts::judge

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/platform/model/rank_faults.hpp"

namespace symmcts::platform {

// A `fault` line of machine.jsonl (harness/evidence/README.md), without line end: the fault befell
// call (or phase) `number` of its rank, whose host clock then stood at `at`.
std::string fault_json(const RankFault& fault, std::uint64_t number, Ns at);

// What the scenario has in store, for whoever wants to know afterwards what never came to be: one
// object with the list `faults`, each as in its line, but without a time.
std::string plan_json(const std::vector<RankFault>& faults);

}  // namespace symmcts::platform

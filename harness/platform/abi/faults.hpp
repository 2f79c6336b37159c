#pragma once

#include "harness/platform/abi/runtime.hpp"
#include "harness/platform/model/fault_plan.hpp"

namespace symmcts::platform::abi {

// What the scenario has in store for this rank, done to this process. A kill or a stop is told to
// the broker first, so that the evidence has it, and happens before the function returns: at once,
// or, after a stop, when somebody continues the process.

// Kills and stops before a call that nobody has been told of yet, or after one.
void befall_around(Runtime& runtime, const FaultPlan::Due& due, RankFault::When when);
// Stalls a call that has begun. The code that it shall return instead of doing anything; success:
// none.
CUresult befall_within(Runtime& runtime, const FaultPlan::Due& due, const char* function);
// The rank begins a phase.
void befall_phase(Runtime& runtime, const char* phase);

}  // namespace symmcts::platform::abi

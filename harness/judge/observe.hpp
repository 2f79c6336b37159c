#pragma once

#include <vector>

#include "harness/judge/context.hpp"
#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

// What the copies of each rank show beside the requirements, pairs of a kind together: copies that
// ran one after the other although both were ready (a shared engine), and device copies that
// overlap host transfers. Sorted by rank, then by how often. Only where the source leaves targets
// open or no requirement speaks of the pair.
std::vector<Observation> observe(const Context& context);

}  // namespace symmcts::judge

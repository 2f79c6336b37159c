#pragma once

#include <vector>

#include "harness/judge/context.hpp"
#include "harness/judge/judge.hpp"

namespace symmcts::judge {

// Counts each rank's measured copies by kind; batched records count their copies.
std::vector<RankSummary> summarize(const Context& context);

}  // namespace symmcts::judge

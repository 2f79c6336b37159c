#pragma once

#include <string>
#include <vector>

#include "harness/judge/context.hpp"

namespace symmcts::judge {

// Turns the passes that something missing could have changed into unknown: all of them where the
// evidence has gaps (a rank of the job without evidence, a file that was cut, a case that did not
// come to its end), those that rest on activity records where the profiler dropped some or some are
// damaged. Such a
// verdict names the ranks whose evidence is not whole.
void withhold_passes(const Context& context, std::vector<Verdict>& verdicts);

}  // namespace symmcts::judge

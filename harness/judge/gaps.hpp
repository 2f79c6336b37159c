#pragma once

#include <string>
#include <vector>

#include "harness/judge/context.hpp"

namespace symmcts::judge {

// Why the evidence is not all there was, one line each: a rank of the job without evidence, a file
// that was cut, a case that did not come to its end. What is missing could have changed any pass.
std::vector<std::string> read_gaps(const Context& context);

// Turns the passes that something missing could have changed into unknown: all of them where the
// evidence has gaps, those that rest on activity records where the profiler dropped some.
void withhold_passes(const Context& context, std::vector<Verdict>& verdicts);

}  // namespace symmcts::judge

#pragma once

#include <string>
#include <vector>

#include "harness/cli/repro_file.hpp"
#include "harness/cli/suite.hpp"

namespace symmcts::cli {

// How one half of a repro differs from what was published: one line a difference, none if it is as
// published. `half` is "before" or "after", for the lines.
std::vector<std::string> differences(const std::string& half, const Published& published,
                                     const std::vector<std::string>& requirements,
                                     const SuiteResult& result);

}  // namespace symmcts::cli

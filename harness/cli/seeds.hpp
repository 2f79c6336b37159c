#pragma once

#include <cstdint>
#include <string>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// Seeds of the schedule, both ends included.
struct SeedRange {
  std::uint64_t first = 1, last = 1;
  std::uint64_t count() const { return last - first + 1; }
};

// Reads "A..B". An Error, one line that shows `text`, for anything else, for B before A, and for
// more seeds than one run may take.
Result<SeedRange> read_seeds(const std::string& text);

}  // namespace symmcts::cli

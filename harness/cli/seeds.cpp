#include "harness/cli/seeds.hpp"

#include <limits>
#include <string_view>

#include "harness/support/whole_number.hpp"

namespace symmcts::cli {
namespace {

constexpr std::uint64_t kMostSeeds = 100'000;

bool read_number(std::string_view text, std::uint64_t& out) {
  constexpr std::uint64_t kLeast = 0, kMost = std::numeric_limits<std::uint64_t>::max();
  return bool(read_whole_number("seed", text, kLeast, kMost, out));
}

}  // namespace

Result<SeedRange> read_seeds(const std::string& text) {
  SeedRange range;
  const std::size_t dots = text.find("..");
  const std::string_view all(text);
  if (dots == std::string::npos || !read_number(all.substr(0, dots), range.first) ||
      !read_number(all.substr(dots + 2), range.last)) {
    return Error{text + ": must be A..B, two whole numbers from 0 to 18446744073709551615"};
  }
  if (range.last < range.first) return Error{text + ": the second seed is before the first"};
  if (range.last - range.first >= kMostSeeds) {
    return Error{text + ": more than " + std::to_string(kMostSeeds) + " seeds"};
  }
  return range;
}

}  // namespace symmcts::cli

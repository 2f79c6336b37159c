#include "harness/judge/words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace symmcts::judge {

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      text += between;
    }
    text += parts[i];
  }
  return text;
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 16;
  if (ranks.empty()) {
    return "no rank";
  }
  if (ranks.size() == 1) {
    return "rank " + std::to_string(ranks.front());
  }
  std::string text = "ranks ";
  const std::size_t shown = std::min(ranks.size(), kShown);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) {
      text += i + 1 == ranks.size() ? " and " : ", ";
    }
    text += std::to_string(ranks[i]);
  }
  if (shown < ranks.size()) {
    text += " and " + std::to_string(ranks.size() - shown) + " more";
  }
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + kUnits[unit];
}

std::string time_text(std::int64_t nanoseconds) {
  std::array<char, 48> text{};
  const double ns = static_cast<double>(nanoseconds);
  if (nanoseconds < 1'000'000 && nanoseconds > -1'000'000) {
    std::snprintf(text.data(), text.size(), "%.2f us", ns / 1e3);
  } else {
    std::snprintf(text.data(), text.size(), "%.2f ms", ns / 1e6);
  }
  return text.data();
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace symmcts::judge

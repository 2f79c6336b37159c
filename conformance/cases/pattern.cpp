#include "conformance/cases/pattern.hpp"

#include <algorithm>
#include <cstring>

namespace symmcts::cases {
namespace {

// SplitMix64: a bijection of its counter with good avalanche, public domain.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

Content pattern(std::uint64_t seed, int rank, int round, std::size_t bytes) {
  const std::uint64_t key = mix(
      mix(seed) ^ mix(static_cast<std::uint64_t>(rank) << 32 | static_cast<std::uint32_t>(round)));
  Content content(bytes);
  for (std::size_t at = 0, word = 0; at < bytes; at += sizeof(std::uint64_t), ++word) {
    const std::uint64_t value = mix(key + word);
    std::memcpy(content.data() + at, &value, std::min(sizeof(value), bytes - at));
  }
  return content;
}

std::optional<std::size_t> first_difference(std::span<const std::uint8_t> expected,
                                            std::span<const std::uint8_t> actual) {
  const auto [here, there] =
      std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  if (here == expected.end() && there == actual.end()) return std::nullopt;
  return static_cast<std::size_t>(here - expected.begin());
}

}  // namespace symmcts::cases

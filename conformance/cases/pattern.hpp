#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace symmcts::cases {

using Content = std::vector<std::uint8_t>;

// `bytes` pseudo-random bytes that depend on the seed, the rank and the round alone: the same on
// every rank that computes them, different for neighbours, so that a misplaced byte shows.
Content pattern(std::uint64_t seed, int rank, int round, std::size_t bytes);

// The first place at which two contents of one length differ.
std::optional<std::size_t> first_difference(std::span<const std::uint8_t> expected,
                                            std::span<const std::uint8_t> actual);

}  // namespace symmcts::cases

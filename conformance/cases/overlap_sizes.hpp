#pragma once

#include <bit>
#include <cstddef>

namespace symmcts::cases {

// All replicas of a group together: memory is real on the software platform, and a group of 72 with
// 4 MiB for each pair of ranks would take 20 GiB (SM-OVLP-3 names the bound).
constexpr std::size_t kReplicasInAll = std::size_t{2} << 30;
constexpr std::size_t kMostOverlapBytes = std::size_t{4} << 20;

// Bytes that each of `ranks` ranks contributes to an all-gather beside transfers: a power of two,
// so that `ranks` replicas of `ranks` parts fit. Precondition: `ranks` is not 0.
constexpr std::size_t overlap_bytes(std::size_t ranks) {
  const std::size_t fits = std::bit_floor(kReplicasInAll / (ranks * ranks));
  return fits < kMostOverlapBytes ? fits : kMostOverlapBytes;
}

}  // namespace symmcts::cases

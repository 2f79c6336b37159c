// SM-OVLP-3: at most 2 GiB of replicas in all.
#include "conformance/cases/overlap_sizes.hpp"

#include <gtest/gtest.h>

namespace symmcts::cases {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(OverlapSizes, AreFourMebibytesForFewRanks) {
  EXPECT_EQ(overlap_bytes(2), 4 * kMiB);
  EXPECT_EQ(overlap_bytes(8), 4 * kMiB);
}

TEST(OverlapSizes, OfAllReplicasFitIntoTwoGibibytes) {
  for (const std::size_t ranks : {1U, 2U, 8U, 16U, 23U, 32U, 64U, 72U, 256U, 576U}) {
    const std::size_t replica = ranks * overlap_bytes(ranks);
    EXPECT_LE(ranks * replica, 2048 * kMiB) << ranks << " ranks";
  }
}

// An NVL72: large enough that a write takes longer than what a copy costs at least.
TEST(OverlapSizes, OfARackAreThoseOfTheRequirement) { EXPECT_GE(overlap_bytes(72), kMiB / 16); }

}  // namespace
}  // namespace symmcts::cases

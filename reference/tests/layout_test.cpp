#include "symm_mem/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace symm_mem {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

// 2 MiB: measured unicast granularity and the usual multicast minimum; 512 MiB: the recommended
// one.
TEST(Layout, TotalIsAMultipleOfTheGranularityAndHoldsPadsAndData) {
  for (const std::size_t granularity : {2 * kMiB, 512 * kMiB}) {
    for (const int ranks : {1, 2, 8, 72}) {
      for (const std::uint64_t bytes :
           {std::uint64_t{1}, std::uint64_t{255}, std::uint64_t{2 * kMiB - 1},
            std::uint64_t{2 * kMiB}, std::uint64_t{256 * kMiB + 1}}) {
        const auto layout = plan_layout(bytes, ranks, granularity, 8);
        ASSERT_TRUE(layout);
        EXPECT_EQ(layout.value().total % granularity, 0u);
        EXPECT_EQ(layout.value().data_offset % kDataAlignment, 0u);
        EXPECT_GE(layout.value().total, layout.value().data_offset + bytes);
        EXPECT_LT(layout.value().total, layout.value().data_offset + bytes + granularity);
      }
    }
  }
}

// Every word and every probe, as the bytes that it covers: none twice, none outside the pads.
TEST(Layout, NoTwoKindsChannelsOrRanksShareAByte) {
  for (const int ranks : {1, 2, 7, 72}) {
    const auto layout = plan_layout(1, ranks, 2 * kMiB, 1);
    ASSERT_TRUE(layout);
    std::set<std::uint64_t> bytes;
    std::size_t expected = 0;
    const auto cover = [&](std::uint64_t offset, std::uint64_t size) {
      EXPECT_EQ(offset % size, 0u);
      for (std::uint64_t at = 0; at < size; ++at) bytes.insert(offset + at);
      expected += size;
    };
    for (const Word kind : {Word::barrier, Word::signal, Word::enter, Word::leave, Word::slot}) {
      for (int channel = 0; channel < kChannels; ++channel) {
        for (int rank = 0; rank < ranks; ++rank) cover(layout.value().word(kind, channel, rank), 4);
      }
    }
    for (int source = 0; source <= ranks; ++source) {
      cover(layout.value().probe(static_cast<std::uint32_t>(source)), kProbeBytes);
    }
    EXPECT_EQ(bytes.size(), expected);
    EXPECT_LT(*bytes.rbegin(), layout.value().data_offset);
  }
}

TEST(Layout, RefusesSizesThatCannotBe) {
  EXPECT_FALSE(plan_layout(0, 2, 2 * kMiB, 1));
  EXPECT_FALSE(plan_layout(1, 2, 0, 1));
  const auto huge = plan_layout(std::numeric_limits<std::uint64_t>::max() - 4096, 2, 2 * kMiB, 1);
  ASSERT_FALSE(huge);
  EXPECT_THAT(huge.error().text, HasSubstr("out of range"));
}

class CompareLayouts : public ::testing::Test {
 protected:
  Bytes record(std::uint64_t bytes, std::size_t granularity = 2 * kMiB, std::uint32_t route = 8) {
    return pack(plan_layout(bytes, 3, granularity, route).value());
  }
  Group group_{.id = 0, .members = {4, 5, 6}, .me = 0, .root = 1};
};

TEST_F(CompareLayouts, AcceptsEqualOnes) {
  EXPECT_TRUE(compare_layouts(group_, {record(100), record(100), record(100)}));
}

// The root, group rank 1, is what the others are compared with; the rank is the exchange's.
TEST_F(CompareLayouts, NamesTheFirstThatDiffersFromTheRoot) {
  const Status size = compare_layouts(group_, {record(100), record(100), record(101)});
  ASSERT_FALSE(size);
  EXPECT_EQ(size.error().rank, 6);
  EXPECT_THAT(size.error().text, HasSubstr("101 bytes, the root for 100"));

  const Status root = compare_layouts(group_, {record(100), record(7), record(100)});
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().rank, 4);

  EXPECT_FALSE(compare_layouts(group_, {record(100), record(100), record(100, 512 * kMiB)}));
  EXPECT_FALSE(compare_layouts(group_, {record(100), record(100), record(100, 2 * kMiB, 1)}));
}

TEST_F(CompareLayouts, RefusesAnotherVersionAndACutRecord) {
  Bytes other = record(100);
  other[0] = std::byte{9};
  const Status version = compare_layouts(group_, {record(100), record(100), other});
  ASSERT_FALSE(version);
  EXPECT_THAT(version.error().text, HasSubstr("version 9"));
  EXPECT_EQ(version.error().rank, 6);

  Bytes cut = record(100);
  cut.resize(cut.size() - 1);
  EXPECT_FALSE(compare_layouts(group_, {record(100), record(100), cut}));
  EXPECT_FALSE(compare_layouts(group_, {record(100), record(100), {}}));
}

}  // namespace
}  // namespace symm_mem

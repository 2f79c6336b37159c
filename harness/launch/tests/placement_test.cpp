#include "harness/launch/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symmcts::launch {
namespace {

using ::testing::HasSubstr;

PlacementOptions options(int ranks, int hosts, int gpus) {
  PlacementOptions o;
  o.ranks = ranks;
  o.hosts = hosts;
  o.gpus_per_host = gpus;
  return o;
}

TEST(Placement, FillsOneHostAfterTheOther) {
  const auto seats = place_ranks(options(6, 2, 4));
  ASSERT_TRUE(seats) << seats.error();
  EXPECT_EQ(seats.value()[3].host, 0);
  EXPECT_EQ(seats.value()[3].gpu, 3);
  EXPECT_EQ(seats.value()[4].host, 1);
  EXPECT_EQ(seats.value()[4].gpu, 0);
  EXPECT_EQ(seats.value()[4].visible, "");
}

TEST(Placement, RootOrdinalRotatesTheGpus) {
  PlacementOptions o = options(4, 1, 4);
  o.root_ordinal = 1;
  const auto seats = place_ranks(o);
  ASSERT_TRUE(seats) << seats.error();
  EXPECT_EQ(seats.value()[0].gpu, 1);
  EXPECT_EQ(seats.value()[3].gpu, 0);
}

TEST(Placement, OneVisibleGpuPicksFromTheUsersList) {
  PlacementOptions o = options(2, 1, 2);
  o.one_visible_gpu = true;
  EXPECT_EQ(place_ranks(o).value()[1].visible, "1");
  o.visible = "7,3";
  o.root_ordinal = 1;
  EXPECT_EQ(place_ranks(o).value()[0].visible, "3");
  EXPECT_EQ(place_ranks(o).value()[1].visible, "7");
}

TEST(Placement, RefusesWhatHasNoRoom) {
  EXPECT_THAT(place_ranks(options(3, 1, 2)).error(),
              HasSubstr("--ranks 3: the platform has only 2 GPUs"));
  EXPECT_FALSE(place_ranks(options(0, 1, 2)));
  EXPECT_FALSE(place_ranks(options(1, 0, 0)));
  PlacementOptions o = options(2, 1, 2);
  o.root_ordinal = 2;
  EXPECT_THAT(place_ranks(o).error(), HasSubstr("--root-ordinal 2"));
  o.root_ordinal = -1;
  EXPECT_FALSE(place_ranks(o));
}

}  // namespace
}  // namespace symmcts::launch

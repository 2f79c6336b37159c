#include "conformance/cases/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace symmcts::cases {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// torchcomms#3498: in domain d group g is {64d+g, 64d+g+8, ..., 64d+g+56}, its root the lowest; the
// roots are 64d+0..7.
TEST(Groups, AreThoseOfTheReport) {
  const Deal deal{64, 8};
  EXPECT_EQ(obstacle_to(deal, 256), "");
  EXPECT_THAT(members_of(deal, 256, 0), ElementsAre(0, 8, 16, 24, 32, 40, 48, 56));
  EXPECT_THAT(members_of(deal, 256, 56), ElementsAre(0, 8, 16, 24, 32, 40, 48, 56));
  EXPECT_THAT(members_of(deal, 256, 64 + 13), ElementsAre(69, 77, 85, 93, 101, 109, 117, 125));
  std::set<int> roots;
  for (int rank = 0; rank < 256; ++rank) roots.insert(members_of(deal, 256, rank).front());
  std::set<int> expected;
  for (int domain = 0; domain < 4; ++domain) {
    for (int group = 0; group < 8; ++group) expected.insert(64 * domain + group);
  }
  EXPECT_EQ(roots, expected);
}

TEST(Groups, AreTwoHalvesIfNothingIsSaid) {
  EXPECT_THAT(members_of({}, 4, 3), ElementsAre(1, 3));
  EXPECT_THAT(members_of({}, 8, 0), ElementsAre(0, 2, 4, 6));
}

TEST(Groups, SayWhatDoesNotFit) {
  EXPECT_THAT(obstacle_to({64, 8}, 100), HasSubstr("100 ranks"));
  EXPECT_THAT(obstacle_to({64, 7}, 256), HasSubstr("groups of 7"));
  EXPECT_THAT(obstacle_to({}, 5), HasSubstr("groups of 2"));
  EXPECT_THAT(obstacle_to({}, 2), HasSubstr("groups of 1"));
}

}  // namespace
}  // namespace symmcts::cases

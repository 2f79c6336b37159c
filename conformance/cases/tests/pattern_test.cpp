#include "conformance/cases/pattern.hpp"

#include <gtest/gtest.h>

#include <array>

namespace symmcts::cases {
namespace {

TEST(Pattern, DependsOnItsArgumentsAlone) {
  const Content content = pattern(7, 1, 2, 1000);
  EXPECT_EQ(content, pattern(7, 1, 2, 1000));
  EXPECT_NE(content, pattern(8, 1, 2, 1000));
  EXPECT_NE(content, pattern(7, 2, 2, 1000));
  EXPECT_NE(content, pattern(7, 1, 3, 1000));
  EXPECT_NE(pattern(7, 1, 2, 1000), pattern(7, 2, 1, 1000));
}

TEST(Pattern, AShorterOneIsTheBeginningOfALongerOne) {
  const Content longer = pattern(7, 1, 2, 1000);
  for (const std::size_t bytes : {0u, 1u, 7u, 8u, 9u, 999u}) {
    const Content content = pattern(7, 1, 2, bytes);
    ASSERT_EQ(content.size(), bytes);
    EXPECT_TRUE(std::equal(content.begin(), content.end(), longer.begin()));
  }
}

// A byte that lands somewhere else must be seen there: about one in 256 is equal by chance.
TEST(Pattern, ShiftedItDiffersAlmostEverywhere) {
  const Content content = pattern(0, 0, 0, 4096);
  for (const std::size_t shift : {1u, 8u, 64u, 512u}) {
    std::size_t equal = 0;
    for (std::size_t i = shift; i < content.size(); ++i) equal += content[i] == content[i - shift];
    EXPECT_LT(equal, content.size() / 64) << shift;
  }
}

TEST(Difference, IsTheFirstOne) {
  std::array<std::uint8_t, 4> expected = {1, 2, 3, 4}, actual = expected;
  EXPECT_FALSE(first_difference(expected, actual));
  actual[3] = 0;
  EXPECT_EQ(first_difference(expected, actual), 3u);
  actual[0] = 0;
  EXPECT_EQ(first_difference(expected, actual), 0u);
}

}  // namespace
}  // namespace symmcts::cases

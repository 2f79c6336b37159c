#include "harness/launch/watchdog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;

// Time is what the test says it is.
class WatchdogTest : public ::testing::Test {
 protected:
  WatchdogTest() {
    patience_.stall = milliseconds(1000);
    patience_.total = milliseconds(3000);
    patience_.start = milliseconds(60'000);
  }
  std::filesystem::path rank(int number) const {
    return scratch_.path() / ("rank-" + std::to_string(number));
  }
  void write(int number) const { std::ofstream(rank(number), std::ios::app) << "a line\n"; }
  Watchdog make() const { return Watchdog(patience_, {rank(0), rank(1)}, {}, at(0)); }
  static Clock::time_point at(int ms) { return Clock::time_point(milliseconds(ms)); }

  Scratch scratch_;
  Patience patience_;
};

TEST_F(WatchdogTest, TheStartCountsForNeitherClock) {
  Watchdog dog = make();
  EXPECT_THAT(dog.look(at(20'000)), IsEmpty());
  write(0);
  EXPECT_THAT(dog.look(at(40'000)), IsEmpty());
  write(1);
  EXPECT_THAT(dog.look(at(59'000)), IsEmpty());
  EXPECT_THAT(dog.start_problem(at(90'000)), IsEmpty());
  EXPECT_THAT(dog.look(at(59'999)), IsEmpty());
  EXPECT_EQ(dog.look(at(60'000)), "nothing moved for 1 s");
  write(1);
  EXPECT_THAT(dog.look(at(60'100)), IsEmpty());
  write(1);
  EXPECT_THAT(dog.look(at(61'000)), IsEmpty());
  EXPECT_EQ(dog.look(at(62'000)), "the unit took longer than 3 s");
}

TEST_F(WatchdogTest, AStartThatNeverEndsHasABound) {
  Watchdog dog = make();
  write(0);
  EXPECT_THAT(dog.look(at(59'999)), IsEmpty());
  EXPECT_THAT(dog.start_problem(at(59'999)), IsEmpty());
  EXPECT_THAT(dog.look(at(60'000)), IsEmpty());
  EXPECT_EQ(dog.start_problem(at(60'000)), "1 of 2 ranks had not begun their evidence after 60 s");
}

TEST_F(WatchdogTest, ARankThatEndedHasStarted) {
  Watchdog dog = make();
  write(0);
  dog.begin(at(500));
  EXPECT_THAT(dog.look(at(1400)), IsEmpty());
  EXPECT_EQ(dog.look(at(2400)), "nothing moved for 1 s");
}

}  // namespace
}  // namespace symmcts::launch::testing

// Whose doing the end of a unit was, where several ranks have ended.
#include "harness/launch/blame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

using std::chrono::milliseconds;

class BlameTest : public ::testing::Test {
 protected:
  static constexpr auto kStart = std::chrono::steady_clock::time_point(std::chrono::hours(1));

  // `rank` ended, the next one after those so far.
  void ends(int rank, milliseconds at, bool signaled, int value) {
    RankState state;
    state.rank = rank;
    state.header = true;
    state.phase = "import";
    result_.ranks.push_back(state);
    result_.programs.push_back({.name = "rank " + std::to_string(rank),
                                .rank = rank,
                                .ended = true,
                                .order = static_cast<int>(result_.programs.size()) + 1,
                                .at = kStart + at,
                                .exit = {.known = true, .signaled = signaled, .value = value}});
  }
  std::vector<int> blamed() const {
    std::vector<int> ranks;
    for (const Fault& fault : read_faults(directory_, result_)) ranks.push_back(fault.rank);
    return ranks;
  }

  Scratch scratch_;
  RunDirectory directory_ = RunDirectory::choose(scratch_.tmp());
  UnitResult result_;
};

TEST_F(BlameTest, TheFirstToEndComesFirst) {
  ends(1, milliseconds(0), false, 7);
  ends(0, milliseconds(900), true, SIGSEGV);
  EXPECT_THAT(blamed(), ::testing::ElementsAre(1, 0));
}

// A peer may see the closed socket of a crashed rank, and end, before the crash itself is told.
TEST_F(BlameTest, OfEndsThatFallTogetherACrashComesFirst) {
  ends(2, milliseconds(0), false, 9);
  ends(1, milliseconds(3), false, 9);
  ends(0, milliseconds(4), true, SIGSEGV);
  EXPECT_THAT(blamed(), ::testing::ElementsAre(0, 2, 1));
}

// Many a library aborts when a peer has gone.
TEST_F(BlameTest, AnAbortIsNoSuchCrash) {
  ends(1, milliseconds(0), false, 7);
  ends(0, milliseconds(3), true, SIGABRT);
  EXPECT_THAT(blamed(), ::testing::ElementsAre(1, 0));
}

}  // namespace
}  // namespace symmcts::launch::testing

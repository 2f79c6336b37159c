#include "harness/platform/model/word_log.hpp"

#include <gtest/gtest.h>

#include <map>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kAllocation = 5;

class WordLogTest : public ::testing::Test {
 protected:
  std::optional<Ns> wait(Ns ready, WordTest test, std::uint64_t value, std::uint64_t offset = 0,
                         std::uint8_t width = 4) {
    return log_.wait(waiter_, {++next_id_, kAllocation, offset, width, test, value, ready});
  }
  std::vector<WordLog::Done> write(Ns at, std::uint64_t value, std::uint64_t offset = 0,
                                   std::uint8_t width = 4, int rank = 1) {
    return log_.write(kAllocation, offset, width, value, client_id(0, rank), at);
  }

  std::map<std::uint64_t, std::uint32_t> memory_;
  Ns visible_ = 10;
  WordLog log_{visible_, [this](std::uint64_t, std::uint64_t offset) { return memory_[offset]; }};
  ClientId waiter_ = client_id(0, 0);
  std::uint64_t next_id_ = 0;
};

TEST_F(WordLogTest, AnEmptyLogLetsTheContentDecide) {
  memory_[0] = 3;
  EXPECT_EQ(wait(50, WordTest::geq, 3), 50u);
  EXPECT_EQ(wait(50, WordTest::geq, 4), std::nullopt);
}

TEST_F(WordLogTest, TheValueInEffectDecidesThenTheFirstLaterOneThatPasses) {
  write(100, 1);
  write(200, 2);
  write(300, 1);
  EXPECT_EQ(wait(150, WordTest::eq, 1), 150u) << "overwritten by now, in effect then";
  EXPECT_EQ(wait(250, WordTest::eq, 1), 310u);
  EXPECT_EQ(wait(50, WordTest::eq, 2), 210u);
  EXPECT_EQ(wait(0, WordTest::eq, 0), 0u) << "what the word held when it was opened";
  EXPECT_EQ(wait(105, WordTest::eq, 1), 110u) << "landed, but not visible yet";
}

TEST_F(WordLogTest, APendingWaitIsAnsweredByTheWrite) {
  EXPECT_EQ(wait(500, WordTest::geq, 2), std::nullopt);
  EXPECT_TRUE(write(100, 1).empty());
  const auto done = write(200, 2);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].client, waiter_);
  EXPECT_EQ(done[0].id, 1u);
  EXPECT_EQ(done[0].at, 500u) << "not before the stream reached the wait";
  EXPECT_TRUE(write(300, 3).empty()) << "answered once";
}

TEST_F(WordLogTest, AContentThatChangesBehindTheLogDoesNotChangeTheStart) {
  // The store that goes with a write may happen before or after the broker looks.
  log_.open(kAllocation, 0, 4);
  memory_[0] = 1;
  write(100, 1);
  EXPECT_EQ(wait(50, WordTest::geq, 1), 110u);
}

TEST_F(WordLogTest, TiesGoByRankNotByArrival) {
  write(100, 7, 0, 4, /*rank=*/2);
  write(100, 8, 0, 4, /*rank=*/1);
  EXPECT_EQ(wait(120, WordTest::eq, 7), 120u) << "rank 2's comes last, whoever arrived first";
}

TEST_F(WordLogTest, TestsAreThoseOfTheDriver) {
  // cuda.h:CUstreamWaitValue_flags
  memory_[0] = 0xfffffff0;
  EXPECT_EQ(wait(1, WordTest::geq, 0xffffffff), std::nullopt);
  EXPECT_EQ(wait(1, WordTest::geq, 0x80000000), 1u);
  memory_[4] = 2;
  EXPECT_EQ(wait(1, WordTest::geq, 0xfffffffe, 4), 1u) << "cyclic: 2 is four steps on";
  memory_[8] = 0b1010;
  EXPECT_EQ(wait(1, WordTest::bit_and, 0b0010, 8), 1u);
  EXPECT_EQ(wait(1, WordTest::bit_and, 0b0101, 8), std::nullopt);
  memory_[12] = 0xffff0000;
  EXPECT_EQ(wait(1, WordTest::nor, 0x0000ffff, 12), std::nullopt);
  EXPECT_EQ(wait(1, WordTest::nor, 0x0000fffe, 12), 1u);
}

TEST_F(WordLogTest, EightByteWordsSeeBothHalves) {
  memory_[0] = 1;
  EXPECT_EQ(wait(1, WordTest::eq, 0x0000000200000001, 0, 8), std::nullopt);
  const auto done = write(50, 2, 4);
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].at, 60u);
  write(90, 0x1'0000'0000, 0, 8);
  EXPECT_EQ(wait(100, WordTest::eq, 0, 0), 100u);
  EXPECT_EQ(wait(100, WordTest::eq, 1, 4), 100u);
  EXPECT_EQ(wait(100, WordTest::geq, 0x1'0000'0000, 0, 8), 100u);
}

TEST_F(WordLogTest, TheWaitsOfTheDeadAreForgotten) {
  EXPECT_EQ(wait(1, WordTest::eq, 9), std::nullopt);
  log_.forget_client(waiter_);
  EXPECT_TRUE(write(5, 9).empty());
}

TEST_F(WordLogTest, AnAllocationTakesItsWordsAlong) {
  write(100, 1);
  EXPECT_TRUE(log_.has_open_words(kAllocation));
  log_.forget_allocation(kAllocation);
  EXPECT_FALSE(log_.has_open_words(kAllocation));
}

TEST_F(WordLogTest, LongLogsKeepTheirLastValues) {
  for (std::uint64_t i = 1; i <= 10'000; ++i) write(i * 100, i);
  EXPECT_EQ(wait(10'000 * 100 + 10, WordTest::eq, 10'000), 10'000u * 100 + 10);
  EXPECT_EQ(wait(9'000 * 100, WordTest::geq, 9'500), 9'500u * 100 + 10);
}

}  // namespace
}  // namespace symmcts::platform

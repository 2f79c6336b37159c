// Who may run when: words, deadlines, calls that wait, and two ranks that depend on each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "harness/platform/process/streams_world.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(OneRank, AWordOfAnotherStreamOfTheSameRankIsSeen) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  ASSERT_EQ(streams.wait_value(a, device + 64, 7, 4, WordTest::eq), Code::success);
  ASSERT_EQ(streams.copy(b, peer, device, 64 * kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.write_value(b, device + 64, 7, 4), Code::success);
  ASSERT_EQ(streams.synchronize(a), Code::success);
  EXPECT_EQ(streams.now(), profile().duration(CopyClass::peer, 64 * kMiB) +
                               profile().word_write_ns.value + FakeBroker::kVisible);
}

// facts A14.2
TEST_F(OneRank, AWaitThatNobodyEndsIsADeadlock) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.wait_value(s, device + 64, 7, 4, WordTest::eq), Code::success);
  std::thread host([&] { streams.synchronize(s); });
  const auto deadlocked = [&] {
    std::lock_guard lock(broker.mutex);
    return !broker.moves.empty();
  };
  while (!deadlocked()) std::this_thread::yield();
  EXPECT_EQ(broker.moves.back(), "deadlock");
  rank.client.word_write(device, 64, 4, 7, 0);  // let the host out
  host.join();
}

TEST_F(OneRank, AnExchangeDeadlinePassesInVirtualTime) {
  streams.advance_to(1000);
  const int fd = streams.wait_begin(500);
  ASSERT_GE(fd, 0);
  pollfd waiting{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, -1), 1);
  EXPECT_TRUE(streams.wait_end(nullptr, 0));
  EXPECT_EQ(streams.now(), 1500u);
  EXPECT_THAT(broker.moves, ElementsAre("deadline 0 @1500"));
}

TEST_F(OneRank, DeviceWorkGoesOnBeforeADeadline) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  const int fd = streams.wait_begin(500);
  pollfd waiting{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, -1), 1);
  EXPECT_TRUE(streams.wait_end(nullptr, 0));
  EXPECT_EQ(rank.sink.copies().size(), 1u);
  EXPECT_EQ(broker.moves.back(), "deadline 0 @500");
  EXPECT_EQ(streams.now(), 500u);
}

TEST_F(OneRank, AMachineWithAForeignClientWaitsForNobody) {
  broker.managed = false;
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  EXPECT_EQ(streams.wait_begin(500), -1);
  EXPECT_FALSE(streams.wait_end(nullptr, 0));
  ASSERT_EQ(streams.copy(a, device, FakeMemory::kPinned, 256 * kMiB, 1, true), Code::success);
  while (rank.sink.copies().empty()) std::this_thread::yield();  // it has run already
  // Work that is added later and earlier in virtual time still overlaps it.
  ASSERT_EQ(streams.copy(b, peer, device, 64 * kMiB, 2, true), Code::success);
  ASSERT_EQ(streams.synchronize(b), Code::success);
  const auto copies = rank.sink.copies();
  EXPECT_EQ(copies[1].start, 0u);
  EXPECT_LT(copies[1].end, copies[0].end);
  EXPECT_THAT(broker.moves, IsEmpty());
}

// A rank in a broker call that waits for others: device work goes on, granted by the machine.
TEST_F(OneRank, DeviceWorkGoesOnWhileACallWaits) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  streams.enter_blocking("cuMulticastBindMem");
  rank.client.park(true);
  while (rank.sink.copies().empty()) std::this_thread::yield();
  rank.client.park(false);
  streams.leave_blocking(10);
  EXPECT_EQ(streams.now(), 10u);
  EXPECT_EQ(broker.moves.front().substr(0, 7), "grant 0");
}

TEST_F(OneRank, ACallThatReturnsAtOnceMovesNobody) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  for (int i = 0; i < 100; ++i) {
    streams.enter_blocking("cuMemMap");
    streams.leave_blocking(streams.now() + 1);
  }
  EXPECT_THAT(broker.moves, IsEmpty());
  EXPECT_THAT(rank.sink.copies(), IsEmpty());
}

// A barrier and a push between two ranks, as a collective does them; every time that anybody sees.
std::vector<Ns> exchange_rounds() {
  FakeBroker broker;
  Rank ranks[2] = {{broker, 0}, {broker, 1}};
  std::vector<Ns> seen[2];
  const auto body = [&](int me) {
    Rank& rank = ranks[me];
    Streams& streams = *rank.streams;
    const std::uint64_t mine = FakeMemory::device(me), theirs = FakeMemory::device(1 - me);
    const StreamId s = streams.create(0, true), side = streams.create(0, true);
    for (std::uint32_t round = 1; round <= 20; ++round) {
      streams.spend("cuMemcpyAsync");
      if (me == 1) streams.advance_to(streams.now() + 777 * round);  // ranks are not in step
      streams.copy(side, mine + kMiB, FakeMemory::kPinned, kMiB, round, true);
      streams.copy(s, theirs + 2 * kMiB, mine, 256 * 1024 * round, round, true);
      streams.write_value(s, theirs + 64, round, 4);
      streams.wait_value(s, mine + 64, round, 4, WordTest::geq);
      streams.copy(s, theirs + 128, mine, 4, round, true);
      if (round % 4 == 0) {
        while (streams.query(s) == Code::not_ready) streams.spend("cuStreamQuery");
      } else if (round % 3 == 0) {
        streams.synchronize(s);
      }
      seen[me].push_back(streams.now());
    }
    streams.synchronize_device(0);
    seen[me].push_back(streams.now());
    rank.client.leave();
  };
  std::thread other([&] { body(1); });
  body(0);
  other.join();
  std::vector<Ns> all;
  for (int i : {0, 1}) {
    all.insert(all.end(), seen[i].begin(), seen[i].end());
    for (const auto& c : ranks[i].sink.copies()) {
      all.insert(all.end(), {c.start, c.end, c.correlation, c.stream});
    }
  }
  return all;
}

TEST(TwoRanks, EveryTimeIsTheSameOnEveryRun) {
  const auto first = exchange_rounds();
  ASSERT_EQ(first.size(), 2 * (21u + 4 * 60));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(exchange_rounds(), first) << "run " << i;
}

TEST(TwoRanks, AMessageCarriesTheClock) {
  FakeBroker broker;
  Rank a(broker, 0), b(broker, 1);
  a.streams->advance_to(5000);
  std::atomic<std::uint64_t> clock{0};
  std::thread receiver([&] {
    b.streams->wait_begin(0);
    while (clock == 0) std::this_thread::yield();
    const std::uint64_t taken = clock;
    EXPECT_FALSE(b.streams->wait_end(&taken, 1));
  });
  clock = a.streams->message_out(1);
  receiver.join();
  EXPECT_EQ(b.streams->now(), 5000u);
  EXPECT_EQ(broker.in_flight, 0);
}

// The earliest work of the machine goes first, whoever it belongs to.
TEST(TwoRanks, GrantsFollowVirtualTime) {
  FakeBroker broker;
  Rank a(broker, 0), b(broker, 1);
  const StreamId sa = a.streams->create(0, true), sb = b.streams->create(0, true);
  a.streams->advance_to(100);
  a.streams->copy(sa, FakeMemory::device(0), FakeMemory::kPinned, 8 * kMiB, 1, true);
  b.streams->copy(sb, FakeMemory::device(1), FakeMemory::kPinned, kMiB, 1, true);
  std::thread other([&] {
    b.streams->wait_begin(1'000'000'000);
    while (b.sink.copies().empty()) std::this_thread::yield();
    while (a.sink.copies().empty()) std::this_thread::yield();
    b.streams->wait_end(nullptr, 0);
  });
  a.streams->wait_begin(1'000'000'000);
  while (a.sink.copies().empty()) std::this_thread::yield();
  a.streams->wait_end(nullptr, 0);
  other.join();
  std::vector<Ns> grants;
  for (const auto& move : broker.moves) {
    if (move.starts_with("grant")) grants.push_back(std::stoull(move.substr(move.find('@') + 1)));
  }
  EXPECT_TRUE(std::is_sorted(grants.begin(), grants.end()))
      << ::testing::PrintToString(broker.moves);
  EXPECT_GE(grants.size(), 4u);
}

}  // namespace
}  // namespace symmcts::platform

// What orders two accesses, one edge a test. Whole programs: abi/tests/race_test.cpp.
#include "harness/platform/model/race_checker.hpp"

#include <gtest/gtest.h>

#include <map>

#include <string>
#include <utility>
#include <vector>

namespace symmcts::platform {
namespace {

constexpr Ns kVisible = 100;
constexpr std::uint64_t kBlock = machine_id(ObjectKind::memory, 1, 1);

// Writes the logs of processes as their executors do.
class Story {
 public:
  struct Work {
    ClientId client = 0;
    std::uint32_t stream = 0;
    Ns submitted = 0, ended = 0;
    std::vector<std::uint64_t> after;
  };

  std::uint64_t access(const Work& work, bool write, std::uint64_t offset, std::uint64_t size,
                       RaceOp::Kind kind = RaceOp::Kind::plain) {
    RaceOp op;
    op.id = ++ids_;
    op.stream = work.stream;
    op.kind = kind;
    op.seen = host_[work.client];
    op.submitted = {work.submitted, wall(work.submitted)};
    op.ended = {work.ended, wall(work.ended)};
    op.correlation = static_cast<std::uint32_t>(op.id);
    op.call = write ? "write" : "read";
    op.after = work.after;
    op.accesses = {{kBlock, offset, size, std::uint8_t{write}}};
    checker.add(work.client, op);
    return op.id;
  }
  void host(ClientId client, RaceHost::Kind kind, Ns at, std::vector<std::uint64_t> ids,
            int to = -1, std::uint64_t oldest = 0) {
    RaceHost record;
    record.kind = kind;
    record.at = {at, wall(at)};
    record.to = to;
    record.oldest = oldest;
    record.ids = std::move(ids);
    ++host_[client];
    checker.add(client, record);
  }
  // "certain", "suspect", or nothing; one letter each.
  std::string found() {
    for (const ClientId client : {0U, 1U}) {
      RaceHost end;
      end.kind = RaceHost::Kind::stopped;
      checker.add(client, end);
    }
    checker.run();
    std::string out;
    for (const Race& race : checker.book().take_new()) out += race.certain ? 'c' : 's';
    return out;
  }

  RaceChecker checker{kVisible};
  Ns skew = 0;  // wall time by virtual time

 private:
  Ns wall(Ns at) const { return 1'000'000 + at + skew; }
  std::uint64_t ids_ = 0;
  std::map<ClientId, std::uint64_t> host_;
};

TEST(RaceChecker, StreamsAreUnordered) {
  Story story;
  story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.access({0, 2, 0, 20, {}}, false, 7, 8);
  EXPECT_EQ(story.found(), "c");
}

TEST(RaceChecker, ReadsAndNeighboursAreNoRace) {
  Story story;
  story.access({0, 1, 0, 10, {}}, false, 0, 8);
  story.access({0, 2, 0, 20, {}}, false, 0, 8);
  story.access({0, 3, 0, 30, {}}, true, 8, 8);
  EXPECT_EQ(story.found(), "");
}

TEST(RaceChecker, AnEdgeOrders) {
  Story story;
  const auto first = story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.access({0, 2, 0, 20, {first}}, true, 0, 8);
  EXPECT_EQ(story.found(), "");
}

TEST(RaceChecker, WhatTheHostHasSeenOrdersWhatItSubmitsThen) {
  Story story;
  const auto first = story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.host(0, RaceHost::Kind::joined, 15, {first});
  story.access({0, 2, 16, 30, {}}, true, 0, 8);
  EXPECT_EQ(story.found(), "");
}

TEST(RaceChecker, AMessageCarriesWhatTheSenderHasSeen) {
  for (const bool joined : {false, true}) {
    Story story;
    const auto first = story.access({0, 1, 0, 10, {}}, true, 0, 8);
    if (joined) story.host(0, RaceHost::Kind::joined, 15, {first});
    const std::uint64_t stamp = message_stamp(0, 16);
    story.host(0, RaceHost::Kind::sent, 16, {stamp}, 1);
    story.host(1, RaceHost::Kind::heard, 20, {stamp});
    story.access({1, 1, 21, 40, {}}, true, 0, 8);
    EXPECT_EQ(story.found(), joined ? "" : "c");
  }
}

// Two ranks at one virtual time say different things.
TEST(RaceChecker, AStampTellsWhoSentIt) {
  Story story;
  const auto first = story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.host(0, RaceHost::Kind::joined, 15, {first});
  story.host(0, RaceHost::Kind::sent, 16, {message_stamp(0, 16)}, 1);
  story.host(1, RaceHost::Kind::sent, 16, {message_stamp(1, 16)}, 1);
  story.host(1, RaceHost::Kind::heard, 16, {message_stamp(1, 16)});
  story.access({1, 1, 16, 40, {}}, true, 0, 8);
  EXPECT_EQ(story.found(), "s");
}

TEST(RaceChecker, ACompletionThatSomebodyHasSeenLeavesASuspicion) {
  Story story;
  const auto first = story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.host(0, RaceHost::Kind::joined, 15, {first});
  story.access({1, 1, 16, 30, {}}, true, 0, 8);
  EXPECT_EQ(story.found(), "s");
}

// Virtual clocks of a machine with unmanaged processes say nothing about each other.
TEST(RaceChecker, WithoutACommonClockTheWallDecides) {
  for (const bool comparable : {false, true}) {
    Story story;
    story.checker.comparable(comparable);
    const auto first = story.access({0, 1, 0, 1000, {}}, true, 0, 8);
    story.host(0, RaceHost::Kind::joined, 1000, {first});
    story.skew = 5000;  // the second process began late, its clock at 0
    story.access({1, 1, 16, 30, {}}, true, 0, 8);
    EXPECT_EQ(story.found(), comparable ? "c" : "s");
  }
}

TEST(RaceChecker, AWaitIsOrderedBehindTheWriteThatItRead) {
  for (const Ns reads_at : {150, 250}) {
    Story story;
    story.access({0, 1, 0, 10, {}}, true, 0, 8);
    story.access({0, 1, 0, 20, {1}}, true, 64, 4, RaceOp::Kind::word_write);
    story.access({0, 1, 0, 120, {2}}, true, 0, 8);
    story.access({0, 1, 0, 130, {3}}, true, 64, 4, RaceOp::Kind::word_write);
    const auto wait = story.access({1, 1, 0, reads_at, {}}, false, 64, 4, RaceOp::Kind::word_wait);
    story.access({1, 1, 0, reads_at + 10, {wait}}, false, 0, 8);
    EXPECT_EQ(story.found(), reads_at == 150 ? "c" : "");
  }
}

// A host that waited for a stream goes on at the very time at which its last operation ended.
TEST(RaceChecker, TheHostSeesAWaitAtItsEnd) {
  Story story;
  const auto copy = story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.access({0, 1, 0, 20, {copy}}, true, 64, 4, RaceOp::Kind::word_write);
  const auto wait = story.access({1, 1, 0, 150, {}}, false, 64, 4, RaceOp::Kind::word_wait);
  story.host(1, RaceHost::Kind::joined, 150, {wait});
  story.access({1, 2, 151, 170, {}}, true, 0, 8);
  EXPECT_EQ(story.found(), "");
}

// How far a process has come by the wall clock when its host makes a record is the load's doing:
// work that was done by then, and ends later by virtual time, knows no more for it.
TEST(RaceChecker, WorkThatWasDoneEarlyKnowsNoMoreThanWhenItWasSubmitted) {
  for (const std::uint64_t oldest : {0, 1}) {
    Story story;
    const auto copy = story.access({0, 1, 0, 10, {}}, true, 0, 8);
    story.access({0, 2, 5, 200, {}}, true, 0, 8);
    story.host(0, RaceHost::Kind::joined, 100, {copy}, -1, oldest);
    EXPECT_EQ(story.found(), "c") << oldest;
  }
}

// A host goes on while its stream waits for a word; what the stream then does is earlier in virtual
// time than what the host has said since.
TEST(RaceChecker, AHostRunsAheadOfItsStreams) {
  Story story;
  const auto copy = story.access({0, 1, 0, 90, {}}, true, 0, 8);
  story.host(0, RaceHost::Kind::sent, 200, {message_stamp(0, 200)}, 1);
  story.access({0, 1, 0, 91, {copy}}, true, 64, 4, RaceOp::Kind::word_write);
  const auto wait = story.access({1, 1, 0, 195, {}}, false, 64, 4, RaceOp::Kind::word_wait);
  story.access({1, 1, 0, 198, {wait}}, true, 0, 8);
  EXPECT_EQ(story.found(), "");
}

TEST(RaceChecker, WordsAreWrittenAndWaitedForAtOnce) {
  Story story;
  story.access({0, 1, 0, 10, {}}, true, 64, 4, RaceOp::Kind::word_write);
  story.access({1, 1, 0, 20, {}}, true, 64, 4, RaceOp::Kind::word_write);
  story.access({1, 2, 0, 30, {}}, false, 64, 4, RaceOp::Kind::word_wait);
  story.access({0, 2, 0, 40, {}}, true, 64, 4, RaceOp::Kind::short_copy);
  EXPECT_EQ(story.found(), "cc") << "the short copy against the two writes, not the wait";
}

// SM-SIG-1: a word of its own behind the wipe does not hide it from a peer's.
TEST(RaceChecker, AWipeBehindAWordIsStillARace) {
  Story story;
  const auto wipe = story.access({0, 1, 0, 10, {}}, true, 0, 256);
  story.access({0, 1, 0, 20, {wipe}}, true, 64, 4, RaceOp::Kind::word_write);
  story.access({1, 1, 0, 30, {}}, true, 64, 4, RaceOp::Kind::word_write);
  EXPECT_EQ(story.found(), "c");
}

TEST(RaceChecker, AKilledProcessLeavesNothingToSay) {
  Story story;
  story.access({0, 1, 0, 10, {}}, true, 0, 8);
  story.access({0, 2, 0, 20, {}}, true, 0, 8);
  story.checker.gone(0);
  EXPECT_EQ(story.found(), "");
  EXPECT_FALSE(story.checker.whole());
}

TEST(RaceChecker, AStreamThatIsGoneLeavesItsLineToTheNext) {
  Story story;
  std::uint64_t last = 0;
  for (std::uint32_t stream = 1; stream <= 100; ++stream) {
    last = story.access({0, stream, stream * 10, stream * 10 + 5, {}}, true, 0, 8);
    story.host(0, RaceHost::Kind::joined, stream * 10 + 6, {last});
    story.host(0, RaceHost::Kind::ended, stream * 10 + 7, {stream});
  }
  story.access({0, 200, 2000, 2010, {}}, true, 0, 8);
  story.access({0, 201, 2000, 2020, {}}, true, 0, 8);
  EXPECT_EQ(story.found(), "c");
}

}  // namespace
}  // namespace symmcts::platform

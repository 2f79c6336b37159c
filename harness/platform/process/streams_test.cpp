// Streams on a fake machine: what one rank sees, and what two ranks do to each other.
#include "harness/platform/process/streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "harness/platform/process/streams_fakes.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

const Profile& profile() {
  static const Profile loaded = [] {
    std::ifstream in(std::string(SYMMCTS_PLATFORM_FIXTURES) + "/gb200-nvl2.toml");
    std::stringstream text;
    text << in.rdbuf();
    auto parsed = parse_profile(text.str(), "gb200-nvl2.toml");
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error());
    return parsed.value();
  }();
  return loaded;
}

// One rank of the fake machine; sees both GPUs, its own one first.
struct Rank {
  Rank(FakeBroker& broker, int index)
      : client(broker, index),
        memory(broker, client, {index, 1 - index}),
        streams(Streams::make(client, profile(), {index, 1 - index})) {
    streams->attach(memory, sink);
  }
  FakeRank client;
  FakeMemory memory;
  FakeSink sink;
  std::unique_ptr<Streams> streams;
};

class OneRank : public ::testing::Test {
 protected:
  FakeBroker broker;
  Rank rank{broker, 0};
  Streams& streams = *rank.streams;
  const std::uint64_t device = FakeMemory::device(0);
  const std::uint64_t peer = FakeMemory::device(1);
};

TEST_F(OneRank, StreamsAreNumberedAsInRealTraces) {
  EXPECT_EQ(streams.default_stream(0), 7u);
  EXPECT_EQ(streams.create(0, true), 13u);
  EXPECT_EQ(streams.create(0, false), 14u);
  EXPECT_EQ(streams.default_stream(0), 7u);
  EXPECT_NE(streams.default_stream(1), 7u);
  EXPECT_EQ(streams.device_of(13), 0);
  EXPECT_EQ(streams.destroy(13), Code::success);
  EXPECT_FALSE(streams.known(13));
  EXPECT_EQ(streams.synchronize(13), Code::invalid_handle);
  EXPECT_EQ(streams.destroy(13), Code::invalid_handle);
}

TEST_F(OneRank, SynchronizeJoinsTheClockAndMovesTheBytes) {
  const StreamId s = streams.create(0, true);
  broker.bytes[FakeMemory::kPinned] = 42;
  streams.advance_to(1000);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 5, true), Code::success);
  EXPECT_EQ(streams.now(), 1000u);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  const Ns length = profile().duration(CopyClass::htod, kMiB);
  EXPECT_EQ(streams.now(), 1000 + length);
  EXPECT_EQ(broker.word(device), 42u);
  const auto copies = rank.sink.copies();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].kind, CopyKind::htod);
  EXPECT_EQ(copies[0].source_kind, MemoryKind::pinned);
  EXPECT_EQ(copies[0].correlation, 5u);
  EXPECT_EQ(copies[0].stream, s);
  EXPECT_EQ(copies[0].start, 1000u);
  EXPECT_EQ(copies[0].end, 1000 + length);
  EXPECT_EQ(copies[0].channel, 8u);
  EXPECT_EQ(copies[0].channel_type, 2u);
}

TEST_F(OneRank, BytesMoveAtTheEndAndNotBefore) {
  const StreamId s = streams.create(0, true);
  broker.bytes[FakeMemory::kPinned] = 1;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  const Ns end = profile().duration(CopyClass::htod, kMiB);
  streams.advance_to(end);  // more could still be enqueued at this very time
  EXPECT_EQ(broker.word(device), 0u);
  streams.advance_to(end + 1);
  EXPECT_EQ(broker.word(device), 1u);
}

// The kinds of pytorch#192530 and torchcomms#3498: native multicast on ordinal 0 shows as DtoD.
TEST_F(OneRank, KindsFollowProvenanceAndDevice) {
  const StreamId s = streams.create(0, true);
  const std::uint64_t pinned = FakeMemory::kPinned;
  std::uint32_t correlation = 0;
  for (const auto& [to, from] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{device, pinned},
                                                            {pinned, device},
                                                            {device + kMiB, device},
                                                            {peer, device},
                                                            {device, peer},
                                                            {FakeMemory::kNative, device},
                                                            {FakeMemory::kNative, peer},
                                                            {FakeMemory::kImported, device}}) {
    ASSERT_EQ(streams.copy(s, to, from, 4096, ++correlation, true), Code::success);
  }
  ASSERT_EQ(streams.synchronize(s), Code::success);
  std::vector<CopyKind> kinds;
  for (const auto& copy : rank.sink.copies()) kinds.push_back(copy.kind);
  EXPECT_THAT(kinds, ElementsAre(CopyKind::htod, CopyKind::dtoh, CopyKind::dtod, CopyKind::ptop,
                                 CopyKind::ptop, CopyKind::dtod, CopyKind::ptop, CopyKind::ptop));
  const auto copies = rank.sink.copies();
  EXPECT_EQ(copies[3].source_device, 0);
  EXPECT_EQ(copies[3].destination_device, 1);
  EXPECT_EQ(copies[4].source_device, 1);
}

TEST_F(OneRank, ChannelsFollowTheStream) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  for (const StreamId s : {a, b, a}) {
    ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
    ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 256, 1, true), Code::success);
  }
  ASSERT_EQ(streams.synchronize_device(0), Code::success);
  std::map<std::pair<StreamId, std::uint64_t>, std::set<std::pair<unsigned, unsigned>>> seen;
  for (const auto& c : rank.sink.copies()) {
    seen[{c.stream, c.bytes}].insert({c.channel, c.channel_type});
  }
  using Channels = std::set<std::pair<unsigned, unsigned>>;
  EXPECT_EQ((seen[{a, kMiB}]), (Channels{{8, 2}}));
  EXPECT_EQ((seen[{b, kMiB}]), (Channels{{9, 2}}));
  EXPECT_EQ((seen[{a, 256}]), (Channels{{1, 1}}));  // small uploads ride the compute channel
  EXPECT_EQ((seen[{b, 256}]), (Channels{{2, 1}}));
}

TEST_F(OneRank, PageableSourceIsReadAtTheCall) {
  const StreamId s = streams.create(0, true);
  std::vector<std::uint8_t> source(4096, 7);
  ASSERT_EQ(streams.copy(s, device, reinterpret_cast<std::uintptr_t>(source.data()), 4096, 1, true),
            Code::success);
  source.assign(4096, 9);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(broker.word(device), 0x07070707u);
}

TEST_F(OneRank, DownloadToPageableMemoryIsDoneAtTheReturn) {
  const StreamId s = streams.create(0, true);
  broker.bytes[device] = 5;
  std::vector<std::uint8_t> target(4096, 0);
  ASSERT_EQ(streams.copy(s, reinterpret_cast<std::uintptr_t>(target.data()), device, 4096, 1, true),
            Code::success);
  EXPECT_EQ(target[0], 5);
  EXPECT_GT(streams.now(), 0u);
}

TEST_F(OneRank, FillsAreRecorded) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.fill(s, device, 0xab, 1, 4096, 3, true), Code::success);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(broker.word(device), 0xababababu);
  const auto fills = rank.sink.fills();
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills[0].bytes, 4096u);
  EXPECT_GT(fills[0].end, fills[0].start);
}

TEST_F(OneRank, QueriesCostTimeAndEnd) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 64 * kMiB, 1, true), Code::success);
  const Ns end = profile().duration(CopyClass::htod, 64 * kMiB);
  Ns polls = 0;
  while (streams.query(s) == Code::not_ready) ++polls;
  EXPECT_EQ(polls, end / profile().call_cost("poll"));
  EXPECT_GT(streams.now(), end);
  EXPECT_EQ(broker.moves.size(), 0u);  // nobody had to be asked
}

TEST_F(OneRank, EventsOrderAndMeasure) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  const EventId before = streams.create_event(true), after = streams.create_event(true);
  EXPECT_EQ(streams.query_event(after), Code::success);  // never recorded
  float ms = 0;
  EXPECT_EQ(streams.elapsed(before, after, ms), Code::invalid_handle);
  ASSERT_EQ(streams.record(before, a), Code::success);
  ASSERT_EQ(streams.copy(a, device, FakeMemory::kPinned, 64 * kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.record(after, a), Code::success);
  EXPECT_EQ(streams.elapsed(before, after, ms), Code::not_ready);
  EXPECT_EQ(streams.query_event(after), Code::not_ready);
  ASSERT_EQ(streams.wait_event(b, after), Code::success);
  ASSERT_EQ(streams.copy(b, peer, device, kMiB, 2, true), Code::success);
  ASSERT_EQ(streams.synchronize_event(after), Code::success);
  ASSERT_EQ(streams.elapsed(before, after, ms), Code::success);
  EXPECT_FLOAT_EQ(ms, static_cast<float>(profile().duration(CopyClass::htod, 64 * kMiB)) / 1e6f);
  ASSERT_EQ(streams.synchronize(b), Code::success);
  const auto copies = rank.sink.copies();
  EXPECT_EQ(copies[1].start, copies[0].end);
  EXPECT_EQ(streams.destroy_event(after), Code::success);
  EXPECT_EQ(streams.synchronize_event(after), Code::invalid_handle);
}

TEST_F(OneRank, HostFunctionsRunInOrder) {
  const StreamId s = streams.create(0, true);
  std::uint32_t seen = 0;
  broker.bytes[FakeMemory::kPinned] = 3;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.host_function(s, [&] { seen = broker.word(device); }), Code::success);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(seen, 3u);
}

TEST_F(OneRank, AFaultSticksAndNothingHangs) {
  const StreamId s = streams.create(0, true);
  rank.memory.fail_with = Code::illegal_address;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  EXPECT_EQ(streams.synchronize(s), Code::illegal_address);
  EXPECT_EQ(streams.sticky_error(), Code::illegal_address);
  EXPECT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::illegal_address);
  EXPECT_THAT(rank.sink.copies(), IsEmpty());
}

TEST_F(OneRank, WaitsOnWhatCannotBeWatchedAreRefused) {
  const StreamId s = streams.create(0, true);
  EXPECT_EQ(streams.wait_value(s, FakeMemory::kNative, 1, 4, WordTest::eq), Code::invalid_value);
  EXPECT_EQ(streams.wait_value(s, FakeMemory::kPinned, 1, 4, WordTest::eq), Code::not_supported);
}

TEST_F(OneRank, AWordOfAnotherStreamOfTheSameRankIsSeen) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  ASSERT_EQ(streams.wait_value(a, device + 64, 7, 4, WordTest::eq), Code::success);
  ASSERT_EQ(streams.copy(b, peer, device, 64 * kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.write_value(b, device + 64, 7, 4), Code::success);
  ASSERT_EQ(streams.synchronize(a), Code::success);
  EXPECT_EQ(streams.now(), profile().duration(CopyClass::peer, 64 * kMiB) +
                               profile().word_write_ns.value + FakeBroker::kVisible);
}

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

TEST(Ends, WorkThatNeverRanIsDropped) {
  FakeBroker broker;
  Rank rank(broker, 0);
  const StreamId s = rank.streams->create(0, true);
  ASSERT_EQ(rank.streams->wait_value(s, FakeMemory::device(0), 7, 4, WordTest::eq), Code::success);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_EQ(rank.streams->copy(s, FakeMemory::device(0), FakeMemory::kPinned, kMiB, 1, true),
              Code::success);
  }
  rank.streams.reset();
  EXPECT_THAT(rank.sink.copies(), IsEmpty());
}

TEST(Ends, AForkedChildLetsGoWithoutItsThread) {
  FakeBroker broker;
  Rank rank(broker, 0);
  const StreamId s = rank.streams->create(0, true);
  ASSERT_EQ(rank.streams->copy(s, FakeMemory::device(0), FakeMemory::kPinned, kMiB, 1, true),
            Code::success);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for the thread it does not have ends by this signal
    rank.streams.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(rank.streams->synchronize(s), Code::success);
}

TEST(Ends, ALostBrokerEndsTheProcessWithOneLine) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        FakeBroker broker;
        Rank rank(broker, 0);
        const StreamId s = rank.streams->create(0, true);
        rank.streams->wait_value(s, FakeMemory::device(0), 7, 4, WordTest::eq);
        rank.client.lose_broker();
        rank.streams->synchronize(s);
      },
      ::testing::ExitedWithCode(3), "broker is gone");
}

// Several threads of one process, each with a stream of its own.
TEST(Threads, EachSeesItsOwnWorkDone) {
  for (const bool managed : {true, false}) {
    FakeBroker broker;
    broker.managed = managed;
    Rank rank(broker, 0);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Streams& streams = *rank.streams;
        const StreamId s = streams.create(0, t % 2 == 0);
        const EventId event = streams.create_event(true);
        for (std::uint32_t i = 1; i <= 50; ++i) {
          streams.spend("cuMemcpyAsync");
          const std::uint64_t word = FakeMemory::device(0, 4096 * (t + 1));
          streams.fill(s, word, i, 4, 1, i, true);
          streams.copy(s, FakeMemory::device(1, 4096 * (t + 1)), word, 4096, i, true);
          streams.record(event, s);
          if (i % 3 == 0) {
            while (streams.query_event(event) == Code::not_ready) {
            }
          } else {
            EXPECT_EQ(streams.synchronize(s), Code::success);
          }
          EXPECT_EQ(broker.word(FakeMemory::device(1, 4096 * (t + 1))), i);
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(rank.sink.copies().size(), 200u);
    EXPECT_EQ(rank.sink.fills().size(), 200u);
  }
}

TEST(Threads, AHostFunctionMayWaitForAThreadThatPolls) {
  FakeBroker broker;
  Rank rank(broker, 0);
  const StreamId s = rank.streams->create(0, true);
  std::atomic<bool> go{false};
  ASSERT_EQ(rank.streams->host_function(s,
                                        [&] {
                                          while (!go) std::this_thread::yield();
                                        }),
            Code::success);
  rank.streams->advance_to(100'000);
  EXPECT_EQ(rank.streams->query(s), Code::not_ready);
  go = true;
  EXPECT_EQ(rank.streams->synchronize(s), Code::success);
}

// --- two ranks

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
  clock = a.streams->message_out();
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

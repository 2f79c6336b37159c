// Several threads, forks, a lost broker, and the end of a process with work left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "harness/platform/process/streams_world.hpp"

namespace symmcts::platform {
namespace {

using ::testing::IsEmpty;

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
          streams.fill(s, {word, i, 4, 1}, i, true);
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

}  // namespace
}  // namespace symmcts::platform

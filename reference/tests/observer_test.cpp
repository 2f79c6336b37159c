// What an observer of an exchange sees: it must be able to keep virtual time by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "ranks.hpp"
#include "symm_mem/exchange_unix.hpp"

namespace symm_mem::test {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using ::testing::IsEmpty;

// A clock that is joined with what arrives, and a count of messages on their way.
class ClockObserver : public ExchangeObserver {
 public:
  std::uint64_t clock = 0;
  long left = 0;
  long taken = 0;
  int watched = -1;
  bool deadline_passed = false;
  nanoseconds last_deadline{};
  bool waiting = false;
  bool paired = true;

  std::uint64_t leaving(int /*to*/) override {
    ++left;
    paired = paired && !waiting;
    return clock;
  }
  int wait_begins(nanoseconds deadline) override {
    paired = paired && !waiting;
    waiting = true;
    last_deadline = deadline;
    return watched;
  }
  bool wait_ends(std::span<const std::uint64_t> values) override {
    paired = paired && waiting;
    waiting = false;
    for (const std::uint64_t value : values) {
      ++taken;
      clock = std::max(clock, value);
    }
    return deadline_passed;
  }
};

void expect(bool ok, const std::string& text, Complaints& complaints) {
  if (!ok) complaints.push_back(text);
}

// Rank 1 sends at time 100 and at time 200. Whichever way the two arrive, rank 0's clock shows 100
// after it asked for the first and 200 after it asked for the second.
TEST(Observer, AClockJoinsAtTheMessageThatIsAskedForWheneverItArrived) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    ClockObserver observer;
    exchange.set_observer(&observer);
    Bytes got;
    if (exchange.rank() == 1) {
      observer.clock = 100;
      (void)exchange.send(0, 1, {});
      observer.clock = 200;
      (void)exchange.send(0, 2, {});
      (void)exchange.send(0, 3, {});
      expect(bool(exchange.receive(0, 9, got, hours(1))), "answer", complaints);
      expect(observer.clock == 200, "an older clock moves nothing", complaints);
      return;
    }
    // All three are there once the last one is.
    expect(bool(exchange.receive(1, 3, got, hours(1))), "third", complaints);
    observer.clock = 0;  // start over: the two that came early have joined nothing yet
    expect(bool(exchange.receive(1, 1, got, hours(1))), "first", complaints);
    expect(observer.clock == 100, "clock after the first is " + std::to_string(observer.clock),
           complaints);
    expect(bool(exchange.receive(1, 2, got, hours(1))), "second", complaints);
    expect(observer.clock == 200, "clock after the second is " + std::to_string(observer.clock),
           complaints);
    expect(observer.taken - observer.left == 3,
           "three messages came in: " + std::to_string(observer.taken - observer.left), complaints);
    expect(observer.paired, "waits are paired, nothing leaves within one", complaints);
    (void)exchange.send(1, 9, {});
    exchange.set_observer(nullptr);
  };
  EXPECT_THAT(run_ranks(2, body), IsEmpty());
}

TEST(Observer, ADeadlineIsTheObserversWhereItHasADescriptor) {
  const TemporaryDirectory directory;
  auto exchange = open_unix_exchange(directory.path(), 0, 2);
  ASSERT_TRUE(exchange);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  ClockObserver observer;
  observer.watched = ends[0];
  observer.deadline_passed = true;
  exchange.value()->set_observer(&observer);
  Bytes got;
  const ExchangeResult result = exchange.value()->receive(1, 1, got, hours(1000));
  EXPECT_EQ(result.end, ExchangeResult::End::timed_out);
  EXPECT_EQ(result.rank, 1);
  EXPECT_EQ(observer.last_deadline, nanoseconds(hours(1000)));
  EXPECT_TRUE(observer.paired);
  ::close(ends[0]);
  ::close(ends[1]);
}

// The wall clock does not end a wait that belongs to the observer: here its deadline, a nanosecond,
// has long passed by the wall when the message arrives.
TEST(Observer, TheWallClockDoesNotEndItsWait) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Bytes got;
    if (exchange.rank() == 1) {
      (void)exchange.send(0, 1, {});
      // The wait on the other side begins before this message leaves, in nearly every run.
      (void)::poll(nullptr, 0, 100);
      (void)exchange.send(0, 2, {});
      return;
    }
    int ends[2];
    expect(::pipe(ends) == 0, "pipe", complaints);
    ClockObserver observer;
    observer.watched = ends[0];
    exchange.set_observer(&observer);
    expect(bool(exchange.receive(1, 1, got, nanoseconds(1))), "first", complaints);
    expect(bool(exchange.receive(1, 2, got, nanoseconds(1))), "second", complaints);
    ::close(ends[0]);
    ::close(ends[1]);
    exchange.set_observer(nullptr);
  };
  EXPECT_THAT(run_ranks(2, body), IsEmpty());
}

TEST(Observer, MessagesToOneselfAreCountedOutAndIn) {
  const TemporaryDirectory directory;
  auto exchange = open_unix_exchange(directory.path(), 0, 1);
  ASSERT_TRUE(exchange);
  ClockObserver observer;
  exchange.value()->set_observer(&observer);
  ASSERT_TRUE(exchange.value()->send(0, 1, {}));
  EXPECT_EQ(observer.left, observer.taken);
  Bytes got;
  ASSERT_TRUE(exchange.value()->receive(0, 1, got, hours(1)));
  EXPECT_EQ(observer.left, observer.taken);
  EXPECT_TRUE(observer.paired);
}

}  // namespace
}  // namespace symm_mem::test

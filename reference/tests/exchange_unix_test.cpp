#include "symm_mem/exchange_unix.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>

#include "ranks.hpp"

namespace symm_mem::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bytes bytes_of(const std::string& text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect(bool ok, const std::string& text, Complaints& complaints) {
  if (!ok) complaints.push_back(text);
}

TEST(UnixExchange, KeepsOrderWithinATagAndMatchesTagsInAnyOrder) {
  EXPECT_THAT(
      run_ranks(3,
                [](Exchange& exchange, Complaints& complaints) {
                  for (int to = 0; to < 3; ++to) {
                    for (const char* text : {"a1", "a2"}) {
                      expect(bool(exchange.send(to, 1, bytes_of(text))), "send", complaints);
                    }
                    expect(bool(exchange.send(to, 2, {})), "send empty", complaints);
                  }
                  for (int from = 2; from >= 0; --from) {
                    Bytes got = bytes_of("not empty");
                    expect(bool(exchange.receive(from, 2, got, seconds(30))) && got.empty(),
                           "tag 2", complaints);
                    for (const char* text : {"a1", "a2"}) {
                      expect(
                          bool(exchange.receive(from, 1, got, seconds(30))) && text_of(got) == text,
                          "tag 1", complaints);
                    }
                  }
                }),
      IsEmpty());
}

// Each rank sends more than a socket holds before it receives: nobody may wait for the receiver.
TEST(UnixExchange, LargeMessagesCross) {
  EXPECT_THAT(run_ranks(2,
                        [](Exchange& exchange, Complaints& complaints) {
                          const int other = 1 - exchange.rank();
                          Bytes sent(8 << 20);
                          for (std::size_t i = 0; i < sent.size(); ++i) {
                            sent[i] = static_cast<std::byte>(i * 7 + i / 4096);
                          }
                          expect(bool(exchange.send(other, 9, sent)), "send", complaints);
                          Bytes got;
                          expect(bool(exchange.receive(other, 9, got, seconds(60))), "receive",
                                 complaints);
                          expect(got == sent, "content", complaints);
                        }),
              IsEmpty());
}

// The sender closes its own copy at once, before the receiver has fetched anything (SM-LIFE-3).
TEST(UnixExchange, DescriptorsTravelAndTheSenderMayCloseItsOwn) {
  EXPECT_THAT(
      run_ranks(2,
                [](Exchange& exchange, Complaints& complaints) {
                  if (exchange.rank() == 0) {
                    int ends[2];
                    expect(::pipe(ends) == 0, "pipe", complaints);
                    expect(bool(exchange.send_descriptor(1, 5, ends[1])), "send", complaints);
                    expect(bool(exchange.send_descriptor(1, 4, ends[1])), "send", complaints);
                    ::close(ends[1]);
                    char got[4] = {};
                    expect(::read(ends[0], got, 2) == 2 && got[0] == 'h', "content", complaints);
                    ::close(ends[0]);
                    return;
                  }
                  int first = -1;
                  int second = -1;
                  // In the other order than sent: each belongs to its tag.
                  expect(bool(exchange.receive_descriptor(0, 4, first, seconds(30))), "tag 4",
                         complaints);
                  expect(bool(exchange.receive_descriptor(0, 5, second, seconds(30))), "tag 5",
                         complaints);
                  expect(first >= 0 && second >= 0 && first != second, "two", complaints);
                  expect((::fcntl(first, F_GETFD) & FD_CLOEXEC) != 0, "close on exec", complaints);
                  ::close(first);
                  expect(::write(second, "hi", 2) == 2, "write", complaints);
                  ::close(second);
                }),
      IsEmpty());
}

// A rank that has ended without a word: nobody waits for it to listen, however long a rank may take
// to start. It is told from one that has yet to come, also where an earlier run left a file.
class Unheard : public ::testing::Test {
 protected:
  std::unique_ptr<Exchange> open(int rank) const {
    auto exchange = open_unix_exchange(directory_.path(), rank, 3, hours(24));
    EXPECT_TRUE(exchange);
    return exchange ? exchange.take() : nullptr;
  }
  // Another process that is rank 1 until it dies: opens, tells, and dies when it is told to.
  void live_and(const std::function<void()>& meanwhile) const {
    int to_child[2], to_parent[2];
    ASSERT_EQ(::pipe(to_child), 0);
    ASSERT_EQ(::pipe(to_parent), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto exchange = open(1);
      char byte = 0;
      if (::write(to_parent[1], "x", 1) != 1 || ::read(to_child[0], &byte, 1) != 1) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    char byte = 0;
    EXPECT_EQ(::read(to_parent[0], &byte, 1), 1);
    meanwhile();
    EXPECT_EQ(::write(to_child[1], "x", 1), 1);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    for (const int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(end);
  }
  static void expect_closed(Exchange& exchange) {
    const ExchangeResult sent = exchange.send(1, 1, bytes_of("hello"));
    EXPECT_EQ(sent.end, ExchangeResult::End::closed);
    EXPECT_EQ(sent.rank, 1);
    Bytes got;
    EXPECT_EQ(exchange.receive(1, 1, got, hours(24)).end, ExchangeResult::End::closed);
  }
  TemporaryDirectory directory_;
};

TEST_F(Unheard, ItListenedWhenWeOpened) {
  std::unique_ptr<Exchange> own;
  live_and([&] { own = open(0); });
  expect_closed(*own);
}

TEST_F(Unheard, ItCameAfterUs) {
  const auto own = open(0);
  live_and([] {});
  expect_closed(*own);
}

TEST_F(Unheard, ItsFileReplacedAnEarlierRuns) {
  live_and([] {});
  const auto own = open(0);
  live_and([] {});
  expect_closed(*own);
}

TEST_F(Unheard, AnEarlierRunsFileIsNotItself) {
  live_and([] {});
  const auto own = open(0);
  Bytes got;
  EXPECT_EQ(own->receive(1, 1, got, milliseconds(50)).end, ExchangeResult::End::timed_out);
  const auto late = open(1);
  EXPECT_TRUE(own->send(1, 1, bytes_of("hello")));
  EXPECT_TRUE(late->receive(0, 1, got, seconds(30)));
}

TEST(UnixExchange, ADescriptorThatIsNoneIsRefused) {
  const TemporaryDirectory directory;
  auto exchange = open_unix_exchange(directory.path(), 0, 2);
  ASSERT_TRUE(exchange);
  const ExchangeResult result = exchange.value()->send_descriptor(1, 1, -1);
  EXPECT_EQ(result.end, ExchangeResult::End::failed);
  EXPECT_THAT(result.text, HasSubstr("descriptor -1"));
}

TEST(UnixExchange, ADeadRankShowsAsClosedAfterItsMessages) {
  EXPECT_THAT(run_ranks(2,
                        [](Exchange& exchange, Complaints& complaints) {
                          if (exchange.rank() == 1) {
                            (void)exchange.send(0, 1, bytes_of("last words"));
                            ::_exit(0);
                          }
                          Bytes got;
                          const ExchangeResult other = exchange.receive(1, 2, got, hours(1));
                          expect(other.end == ExchangeResult::End::closed && other.rank == 1,
                                 "closed names rank 1", complaints);
                          expect(bool(exchange.receive(1, 1, got, hours(1))) &&
                                     text_of(got) == "last words",
                                 "message before the end", complaints);
                        }),
              IsEmpty());
}

TEST(UnixExchange, ADeadRankThatNeverSentShowsAsClosed) {
  EXPECT_THAT(run_ranks(2,
                        [](Exchange& exchange, Complaints& complaints) {
                          Bytes got;
                          if (exchange.rank() == 1) {
                            expect(bool(exchange.receive(0, 1, got, seconds(30))), "go",
                                   complaints);
                            ::_exit(complaints.empty() ? 0 : 2);
                          }
                          expect(bool(exchange.send(1, 1, {})), "send", complaints);
                          const ExchangeResult result = exchange.receive(1, 2, got, hours(1));
                          expect(result.end == ExchangeResult::End::closed && result.rank == 1,
                                 "closed names rank 1", complaints);
                        }),
              IsEmpty());
}

TEST(UnixExchange, AMissingRankTimesOutByTheWallClockWithoutAnObserver) {
  const TemporaryDirectory directory;
  auto exchange = open_unix_exchange(directory.path(), 0, 2, milliseconds(10));
  ASSERT_TRUE(exchange);
  Bytes got;
  const ExchangeResult received = exchange.value()->receive(1, 1, got, milliseconds(20));
  EXPECT_EQ(received.end, ExchangeResult::End::timed_out);
  EXPECT_EQ(received.rank, 1);
  const ExchangeResult sent = exchange.value()->send(1, 1, {});
  EXPECT_EQ(sent.end, ExchangeResult::End::timed_out);
  EXPECT_EQ(sent.rank, 1);
  EXPECT_THAT(sent.text, HasSubstr("rank-1.sock"));
}

// What an earlier run left: a socket file that nobody listens on, of both ranks (nccl#2379).
TEST(UnixExchange, StaleSocketFilesAreReplaced) {
  const TemporaryDirectory directory;
  for (const char* name : {"/rank-0.sock", "/rank-1.sock"}) {
    const std::string path = directory.path() + name;
    const int stale = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ASSERT_EQ(::bind(stale, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    ::close(stale);
  }
  EXPECT_THAT(run_ranks_in(directory.path(), 2,
                           [](Exchange& exchange, Complaints& complaints) {
                             const int other = 1 - exchange.rank();
                             expect(bool(exchange.send(other, 1, bytes_of("x"))), "send",
                                    complaints);
                             Bytes got;
                             expect(bool(exchange.receive(other, 1, got, seconds(30))), "receive",
                                    complaints);
                           }),
              IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "socket files are left behind";
}

// Somebody else's client on our socket ends its own connection and nothing more.
TEST(UnixExchange, ForeignBytesAreDropped) {
  const TemporaryDirectory directory;
  EXPECT_THAT(
      run_ranks_in(directory.path(), 2,
                   [&](Exchange& exchange, Complaints& complaints) {
                     const int other = 1 - exchange.rank();
                     const std::string path =
                         directory.path() + "/rank-" + std::to_string(exchange.rank()) + ".sock";
                     const int foreign = ::socket(AF_UNIX, SOCK_STREAM, 0);
                     sockaddr_un address{};
                     address.sun_family = AF_UNIX;
                     std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
                     expect(::connect(foreign, reinterpret_cast<const sockaddr*>(&address),
                                      sizeof(address)) == 0,
                            "connect", complaints);
                     const char noise[] = "GET / HTTP/1.1\r\nHost: nowhere\r\n\r\n";
                     expect(::write(foreign, noise, sizeof(noise)) > 0, "write", complaints);
                     expect(bool(exchange.send(other, 1, bytes_of("x"))), "send", complaints);
                     Bytes got;
                     expect(bool(exchange.receive(other, 1, got, seconds(30))) && got.size() == 1,
                            "receive", complaints);
                     ::close(foreign);
                   }),
      IsEmpty());
}

TEST(UnixExchange, RefusesWhatCannotBe) {
  const TemporaryDirectory directory;
  EXPECT_FALSE(open_unix_exchange(directory.path(), 2, 2));
  EXPECT_FALSE(open_unix_exchange(directory.path(), -1, 2));
  const auto missing = open_unix_exchange(directory.path() + "/missing", 0, 2);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr(directory.path() + "/missing/rank-0.sock"));
  const auto lengthy = open_unix_exchange(directory.path() + "/" + std::string(120, 'x'), 0, 2);
  ASSERT_FALSE(lengthy);
  EXPECT_THAT(lengthy.error().text, HasSubstr("too long"));

  auto exchange = open_unix_exchange(directory.path(), 0, 2);
  ASSERT_TRUE(exchange);
  EXPECT_EQ(exchange.value()->send(2, 1, {}).end, ExchangeResult::End::failed);
  Bytes got;
  EXPECT_EQ(exchange.value()->receive(-1, 1, got, seconds(1)).end, ExchangeResult::End::failed);
}

}  // namespace
}  // namespace symm_mem::test

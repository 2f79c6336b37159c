// The operations of the reference on the software platform: every path, every root, captured and
// not, and what a rank that does not come does to the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "team_ranks.hpp"

namespace symmcts::test {
namespace {

using std::chrono::milliseconds;
using symm_mem::Block;
using symm_mem::Path;
using ::testing::IsEmpty;

constexpr std::size_t kPart = 70001;  // odd: no part but the first is aligned
constexpr Path kPaths[] = {Path::unicast, Path::multicast};

// Opens a team and a block with room for a part a rank, runs `body`, closes both.
Complaints with_block(int ranks, const std::function<void(TeamRank&, Block&)>& body,
                      const RankSetup& setup = {.platform = "hgx-h200"}) {
  return run_team(ranks, setup, [&](TeamRank& rank) {
    const auto team = rank.open();
    if (team == nullptr) return;
    const auto block = rank.block(*team, kPart * static_cast<std::size_t>(rank.size()) + 5);
    if (block == nullptr || !rank.expect(block->multicast() != 0, block->why_no_multicast())) {
      return;
    }
    body(rank, *block);
    rank.ok(block->close(), "block.close");
    rank.ok(team->close(), "team.close");
  });
}

std::uint8_t value_of(int rank, int round) {
  return static_cast<std::uint8_t>(16 * round + rank + 1);
}

void expect_parts(TeamRank& rank, Block& block, int round, const std::string& what) {
  for (int from = 0; from < rank.size(); ++from) {
    rank.holds(
        block.local() + kPart * static_cast<std::size_t>(from), value_of(from, round), kPart,
        what + ", round " + std::to_string(round) + ", part of rank " + std::to_string(from));
  }
}

class Groups : public ::testing::TestWithParam<int> {};

TEST_P(Groups, AllGatherWithoutAPauseBetweenRounds) {
  EXPECT_THAT(with_block(GetParam(),
                         [](TeamRank& rank, Block& block) {
                           const CUdeviceptr source = rank.bytes_of(0, kPart);
                           for (int round = 0; round < 6; ++round) {
                             rank.set(source, value_of(rank.me(), round), kPart);
                             rank.ok(
                                 block.all_gather(source, kPart, kPaths[round % 2], rank.stream()),
                                 "all_gather");
                             expect_parts(rank, block, round, "all_gather");
                           }
                         }),
              IsEmpty());
}

TEST_P(Groups, BroadcastFromEveryRoot) {
  EXPECT_THAT(
      with_block(GetParam(),
                 [](TeamRank& rank, Block& block) {
                   const CUdeviceptr source = rank.bytes_of(value_of(rank.me(), 3), kPart);
                   for (const Path path : kPaths) {
                     for (int root = 0; root < rank.size(); ++root) {
                       rank.ok(block.fill(0, 0xEE, block.bytes(), path, rank.stream()), "fill");
                       rank.ok(block.broadcast(root, 3, source, kPart, path, rank.stream()),
                               "broadcast");
                       const std::string what = "root " + std::to_string(root);
                       rank.holds(block.local(), 0xEE, 3, what + ", before");
                       rank.holds(block.local() + 3, value_of(root, 3), kPart, what);
                       rank.holds(block.local() + 3 + kPart, 0xEE, 2, what + ", behind");
                       rank.ok(block.barrier(rank.stream()), "barrier");
                     }
                   }
                   rank.fails_with(
                       block.broadcast(rank.size(), 0, source, 1, Path::unicast, rank.stream()),
                       {"no rank"});
                 }),
      IsEmpty());
}

TEST_P(Groups, CapturedOperationsAreRightOnEveryReplay) {
  EXPECT_THAT(
      with_block(GetParam(),
                 [](TeamRank& rank, Block& block) {
                   const CUdeviceptr source = rank.bytes_of(0, kPart);
                   const int next = (rank.me() + 1) % rank.size();
                   const int previous = (rank.me() + rank.size() - 1) % rank.size();
                   for (const Path path : kPaths) {
                     const CUgraphExec gather = rank.capture([&] {
                       rank.ok(block.all_gather(source, kPart, path, rank.stream()), "captured");
                       rank.ok(block.put_signal(next, 2, rank.stream()), "captured put");
                       rank.ok(block.wait_signal(previous, 2, rank.stream()), "captured wait");
                     });
                     const CUgraphExec barrier = rank.capture(
                         [&] { rank.ok(block.barrier(rank.stream(), 0), "captured barrier"); });
                     if (gather == nullptr || barrier == nullptr) return;
                     for (int round = 0; round < 7; ++round) {
                       rank.set(source, value_of(rank.me(), round), kPart);
                       // An uneven number of halves between two gathers, and one that is not
                       // captured.
                       if (round % 3 == 1) rank.launch(barrier);
                       if (round == 5) {
                         rank.ok(block.all_gather(source, kPart, path, rank.stream()), "eager");
                       } else {
                         rank.launch(gather);
                       }
                       if (round % 3 == 1) rank.launch(barrier);
                       expect_parts(rank, block, round, "replay");
                     }
                   }
                 }),
      IsEmpty());
}

// The barrier alone, replayed: what one rank has filled before it is there after it on all.
TEST_P(Groups, ACapturedBarrierOrdersEveryTime) {
  EXPECT_THAT(with_block(GetParam(),
                         [](TeamRank& rank, Block& block) {
                           const CUgraphExec graph = rank.capture(
                               [&] { rank.ok(block.barrier(rank.stream(), 5), "barrier"); });
                           for (int round = 1; round < 6; ++round) {
                             const int writer = round % rank.size();
                             if (rank.me() == writer) {
                               rank.ok(block.fill(1, value_of(writer, round), kPart,
                                                  kPaths[round % 2], rank.stream()),
                                       "fill");
                             }
                             rank.launch(graph);
                             rank.holds(block.local() + 1, value_of(writer, round), kPart, "fill");
                             rank.launch(graph);
                           }
                         }),
              IsEmpty());
}

TEST_P(Groups, SignalsAreCountedAndChannelsAreApart) {
  EXPECT_THAT(with_block(GetParam(),
                         [](TeamRank& rank, Block& block) {
                           // Ahead by three in one channel, none in another.
                           for (int i = 0; i < 3; ++i) {
                             for (int to = 0; to < rank.size(); ++to) {
                               rank.ok(block.put_signal(to, 1, rank.stream()), "put");
                             }
                           }
                           for (int i = 0; i < 3; ++i) {
                             for (int from = 0; from < rank.size(); ++from) {
                               rank.ok(block.wait_signal(from, 1, rank.stream()), "wait");
                             }
                           }
                           rank.ok(block.wait(rank.stream(), milliseconds(100)), "host wait");
                           rank.fails_with(block.put_signal(0, symm_mem::kChannels, rank.stream()),
                                           {"no channel"});
                           rank.fails_with(block.wait_signal(-1, 0, rank.stream()), {"no rank"});
                         }),
              IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Groups, ::testing::Values(2, 3, 4));

// SM-SIG-4: the wait ends, names the rank that is missing and not those that wait for it too; and
// when the rank comes after all, everything goes on.
TEST(HostWait, NamesTheRankThatHasNotCome) {
  EXPECT_THAT(with_block(3,
                         [](TeamRank& rank, Block& block) {
                           if (rank.me() != 2) {
                             rank.ok(block.barrier(rank.stream(), 4), "barrier");
                             rank.ok(block.barrier(rank.stream(), 4), "barrier");
                             rank.fails_with(block.wait(rank.stream(), milliseconds(50)),
                                             {"50 ms", "rank 2 has not come to barrier",
                                              "of channel 4", "phase use, rank 2"});
                             const auto status = block.wait(rank.stream(), milliseconds(1));
                             rank.expect(!status && status.error().line().find("rank 1 has") ==
                                                        std::string::npos,
                                         "rank 1 waits too");
                           }
                           rank.meet();
                           if (rank.me() == 2) {
                             rank.ok(block.barrier(rank.stream(), 4), "barrier");
                             rank.ok(block.barrier(rank.stream(), 4), "barrier");
                           }
                           rank.ok(block.wait(rank.stream(), milliseconds(50)), "after all");
                         }),
              IsEmpty());
}

// A peer that dies in mid-collective: close() ends, names it, and gives back everything.
TEST(Close, EndsWhenAPeerIsGone) {
  EXPECT_THAT(run_team(2, {.platform = "hgx-h200"},
                       [](TeamRank& rank) {
                         rank.options().deadline = milliseconds(200);
                         const auto team = rank.open();
                         if (team == nullptr) return;
                         const auto block = rank.block(*team, kPart * 2);
                         if (block == nullptr) return;
                         rank.meet();
                         if (rank.me() == 1) ::_exit(0);
                         const CUdeviceptr source = rank.bytes_of(1, kPart);
                         rank.ok(block->all_gather(source, kPart, Path::unicast, rank.stream()),
                                 "all_gather");
                         const auto closed = block->close();
                         rank.fails_with(closed, {"device work has not ended after 200 ms",
                                                  "rank 1 has not come to barrier"});
                         rank.expect(!closed && closed.error().line().find("stays allocated") ==
                                                    std::string::npos,
                                     "the device did not come to rest");
                         rank.fails_with(team->close(), {"rank 1"});
                       }),
              IsEmpty());
}

// A graph cannot hold a rendezvous: refused on both ranks, with nothing begun, and the capture goes
// on (SM-CAPT-1, pytorch#198140).
TEST(Capture, SetUpIsRefusedAndTheCaptureGoesOn) {
  EXPECT_THAT(
      run_team(
          2, {.platform = "hgx-h200"},
          [](TeamRank& rank) {
            rank.options().stream = rank.stream();
            const auto team = rank.open();
            if (team == nullptr) return;
            const auto first = rank.block(*team, kPart * 2);
            if (first == nullptr) return;
            const std::size_t phases = rank.platform().phases().size();
            const auto set_up = [&] {
              rank.fails_with(team->make_block(4096).status(), {"is being captured", "rank 1"});
              rank.ok(first->barrier(rank.stream()), "captured barrier");
            };
            // Only rank 1 is in a capture: both are told.
            CUgraphExec graph = nullptr;
            if (rank.me() == 1) {
              graph = rank.capture(set_up);
              rank.expect(graph != nullptr, "the capture was broken");
            } else {
              rank.fails_with(team->make_block(4096).status(), {"is being captured", "rank 1"});
              graph =
                  rank.capture([&] { rank.ok(first->barrier(rank.stream()), "captured barrier"); });
            }
            if (rank.me() == 1) {
              rank.expect(rank.platform().phases().size() == phases + 1 &&
                              rank.platform().phases().back() == "layout",
                          "a step was taken");
            }
            rank.launch(graph);
            rank.ok(first->wait(rank.stream(), milliseconds(100)), "replay");
            const auto after = rank.block(*team, 4096);
            if (after != nullptr) rank.ok(after->close(), "close");
            rank.ok(first->close(), "close");
            rank.ok(team->close(), "team.close");
          }),
      IsEmpty());
}

}  // namespace
}  // namespace symmcts::test

#include "symm_mem/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "ranks.hpp"
#include "symm_mem/exchange_unix.hpp"

namespace symm_mem::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;

void expect(bool ok, const std::string& text, Complaints& complaints) {
  if (!ok) complaints.push_back(text);
}

Bytes one_byte(int value) { return {static_cast<std::byte>(value)}; }

Group group_of(Exchange& exchange, std::uint32_t id, std::vector<int> members, int root,
               Complaints& complaints) {
  Result<Group> group = make_group(exchange, id, std::move(members), root);
  if (group) return group.take();
  complaints.push_back("make_group: " + group.error().text);
  return {};
}

TEST(Agreement, GathersByGroupRankWhateverTheRootAndTheOrder) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    for (int root = 0; root < 3; ++root) {
      Agreement agreement(exchange, group_of(exchange, 1, {2, 0, 1}, root, complaints),
                          seconds(30));
      const auto all = agreement.all_gather(Phase::open, {}, one_byte(exchange.rank() + 10));
      expect(bool(all), "gather", complaints);
      if (!all) return;
      expect(all.value() == std::vector<Bytes>{one_byte(12), one_byte(10), one_byte(11)}, "order",
             complaints);
      const auto told = agreement.broadcast(Phase::open, {}, one_byte(exchange.rank()));
      const int root_rank = agreement.group().members[static_cast<std::size_t>(root)];
      expect(told && told.value() == one_byte(root_rank), "broadcast is the root's", complaints);
    }
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

// Ranks 1 and 3 fail, of which 1 is named, with all it said, on every rank; and the group goes on.
TEST(Agreement, TheLowestFailingRankIsNamedOnAll) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 2, complaints), seconds(30));
    Status mine;
    if (exchange.rank() % 2 == 1) {
      mine =
          Error{.call = "cuMulticastBindMem",
                .code = exchange.rank() == 1 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_ILLEGAL_STATE,
                .phase = Phase::bind,
                .text = "as injected"};
    }
    const Status verdict = agreement.vote(Phase::map_multicast, mine);
    expect(!verdict, "the vote fails", complaints);
    if (verdict) return;
    const Error& error = verdict.error();
    expect(error.rank == 1 && error.call == "cuMulticastBindMem" &&
               error.code == CUDA_ERROR_NOT_SUPPORTED && error.phase == Phase::bind &&
               error.text == "as injected",
           "names rank " + std::to_string(error.rank), complaints);
    expect(bool(agreement.barrier(Phase::ready)), "goes on", complaints);
  };
  EXPECT_THAT(run_ranks(4, body), IsEmpty());
}

// 802 on ranks 0 and 2, 401 on rank 1: no other try can help, and nobody must make one
// (SM-RETRY-2).
TEST(Agreement, APermanentFailureComesBeforeATransientOne) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 2, complaints), seconds(30));
    const Status mine =
        Error{.call = "cuMulticastBindMem",
              .code = exchange.rank() == 1 ? CUDA_ERROR_ILLEGAL_STATE : CUDA_ERROR_SYSTEM_NOT_READY,
              .phase = Phase::bind};
    const Status verdict = agreement.vote(Phase::map_multicast, mine);
    expect(!verdict && verdict.error().rank == 1 && !is_transient(verdict.error()), "permanent",
           complaints);
    const Status all = agreement.vote(
        Phase::map_multicast,
        Error{.call = "cuMemMap", .code = CUDA_ERROR_SYSTEM_NOT_READY, .phase = Phase::bind});
    expect(!all && all.error().rank == 0 && is_transient(all.error()), "transient", complaints);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

// A pause is no step of the group: one rank may pause and the others not.
TEST(Agreement, APauseWaitsAndDisturbsNobody) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 1, complaints), seconds(30));
    for (int round = 0; round < 3; ++round) {
      if (exchange.rank() == round) agreement.pause(milliseconds(20));
      const auto all = agreement.all_gather(Phase::open, {}, one_byte(round));
      expect(all && all.value() == std::vector<Bytes>(3, one_byte(round)), "round", complaints);
    }
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

TEST(Agreement, DescriptorsPassAroundTheRing) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {2, 0, 1}, 0, complaints), seconds(30));
    int ends[2];
    expect(::pipe(ends) == 0, "pipe", complaints);
    const Descriptor reading(ends[0]);
    const Descriptor writing(ends[1]);
    const auto theirs = agreement.pass_descriptor(Phase::open, writing);
    expect(bool(theirs), "pass", complaints);
    if (!theirs) return;
    char byte = static_cast<char>('a' + agreement.group().me);
    expect(::write(theirs.value().get(), &byte, 1) == 1, "write", complaints);
    expect(::read(reading.get(), &byte, 1) == 1 && byte == 'a' + (agreement.group().me + 1) % 3,
           "the next rank has this rank's descriptor", complaints);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

TEST(Agreement, ARootThatFailedBroadcastsItsErrorAndNoPayload) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 0, complaints), seconds(30));
    Status mine;
    if (exchange.rank() == 0)
      mine = Error{.call = "cuMulticastCreate", .code = CUDA_ERROR_NOT_PERMITTED};
    const auto told = agreement.broadcast(Phase::share_multicast, mine, one_byte(1));
    expect(!told && told.error().call == "cuMulticastCreate" && told.error().rank == 0, "error",
           complaints);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

// Rank 2 lives and does not answer. The others give up within the deadline and name it, also in
// later calls, which do not wait again (SM-AGRE-8).
TEST(Agreement, ASilentRankIsNamedOnAllOthers) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 0, complaints), milliseconds(200));
    if (exchange.rank() == 2) {
      Bytes end;
      for (int rank : {0, 1}) (void)exchange.receive(rank, 7, end, seconds(60));
      return;
    }
    for (const Phase phase : {Phase::add_device, Phase::teardown}) {
      const Status verdict = agreement.barrier(phase);
      expect(!verdict && verdict.error().rank == 2 && verdict.error().phase == Phase::add_device,
             "names rank 2", complaints);
    }
    (void)exchange.send(2, 7, {});
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

TEST(Agreement, ADeadRankIsNamedOnAllOthers) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 1, complaints), seconds(600));
    expect(bool(agreement.barrier(Phase::open)), "all there", complaints);
    if (exchange.rank() == 2) ::_exit(complaints.empty() ? 0 : 2);
    const Status verdict = agreement.barrier(Phase::add_device);
    expect(!verdict && verdict.error().rank == 2, "names rank 2", complaints);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

// Overlapping groups that were given one id by mistake, used in an order in which rank 1's messages
// of one group are at rank 0 and rank 2 before those of the other are read (SM-AGRE-7).
TEST(Agreement, OverlappingGroupsDoNotReadEachOther) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    const int rank = exchange.rank();
    const auto gather = [&](std::vector<int> members, int mark) {
      Agreement agreement(exchange, group_of(exchange, 5, members, 0, complaints), seconds(30));
      const auto all = agreement.all_gather(Phase::open, {}, one_byte(mark + rank));
      expect(bool(all) && all.value().size() == members.size(), "gather", complaints);
      for (std::size_t i = 0; all && i < members.size(); ++i) {
        expect(all.value()[i] == one_byte(mark + members[i]), "content", complaints);
      }
    };
    if (rank != 2) gather({0, 1}, 10);
    if (rank != 0) gather({1, 2}, 20);
    gather({0, 1, 2}, 30);
    if (rank != 1) gather({2, 0}, 40);
    gather({2, 1, 0}, 50);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

TEST(Agreement, DescriptorsReachEveryMember) {
  const RankBody body = [](Exchange& exchange, Complaints& complaints) {
    Agreement agreement(exchange, group_of(exchange, 1, {}, 0, complaints), seconds(30));
    int ends[2];
    expect(::pipe(ends) == 0, "pipe", complaints);
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    {
      const auto all = agreement.all_gather_descriptors(Phase::export_memory, writing);
      expect(bool(all), "gather", complaints);
      if (!all) return;
      writing.close();
      for (int peer = 0; peer < 3; ++peer) {
        const Descriptor& theirs = all.value()[static_cast<std::size_t>(peer)];
        expect(theirs.open() == (peer != exchange.rank()), "own place is empty", complaints);
        const char byte = static_cast<char>('a' + exchange.rank());
        if (theirs.open()) expect(::write(theirs.get(), &byte, 1) == 1, "write", complaints);
      }
    }
    // Reads until the last copy of the writing end is closed: nobody keeps one.
    int sum = 0;
    char byte = 0;
    while (::read(reading.get(), &byte, 1) == 1) sum += byte;
    expect(sum == 'a' + 'b' + 'c' - ('a' + exchange.rank()), "one byte of each peer", complaints);
  };
  EXPECT_THAT(run_ranks(3, body), IsEmpty());
}

TEST(Group, RefusesWhatIsNoGroup) {
  const TemporaryDirectory directory;
  auto exchange = open_unix_exchange(directory.path(), 1, 4);
  ASSERT_TRUE(exchange);
  Exchange& ranks = *exchange.value();
  EXPECT_FALSE(make_group(ranks, 0, {0, 2}, 0)) << "this rank is no member";
  EXPECT_FALSE(make_group(ranks, 0, {1, 1}, 0)) << "twice";
  EXPECT_FALSE(make_group(ranks, 0, {1, 4}, 0)) << "no such rank";
  EXPECT_FALSE(make_group(ranks, 0, {1, 3}, 2)) << "no such root";
  const auto all = make_group(ranks, 0, {}, 3);
  ASSERT_TRUE(all);
  EXPECT_EQ(all.value().size(), 4);
  EXPECT_EQ(all.value().me, 1);
}

}  // namespace
}  // namespace symm_mem::test

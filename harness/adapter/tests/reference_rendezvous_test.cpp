// The rendezvous of the reference on the software platform, where something is not as it should be:
// transient and permanent failures, multicast that does not work, routes that do not reach
// everybody, slots that are taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "symm_mem/route.hpp"
#include "team_ranks.hpp"

namespace symmcts::test {
namespace {

using symm_mem::Error;
using symm_mem::Multicast;
using symm_mem::Path;
using symm_mem::Phase;
using symm_mem::Status;
using ::testing::IsEmpty;

constexpr std::size_t kBytes = 12345;

std::int64_t times(TeamRank& rank, const char* phase) {
  const auto& phases = rank.platform().phases();
  return std::count(phases.begin(), phases.end(), phase);
}

// An all-gather by the best path that there is, compared.
void gathers(TeamRank& rank, symm_mem::Block& block) {
  const Path path = block.multicast() != 0 ? Path::multicast : Path::unicast;
  const std::size_t part = kBytes / static_cast<std::size_t>(rank.size());
  const CUdeviceptr source = rank.bytes_of(static_cast<std::uint8_t>(rank.me() + 7), part);
  rank.ok(block.all_gather(source, part, path, rank.stream()), "all_gather");
  for (int from = 0; from < rank.size(); ++from) {
    rank.holds(block.local() + part * static_cast<std::size_t>(from),
               static_cast<std::uint8_t>(from + 7), part, "part of rank " + std::to_string(from));
  }
}

// One team, one block: `body` looks at the block before it is used and closed.
Complaints one_block(int ranks, const RankSetup& setup, const symm_mem::MulticastOrder order,
                     const std::function<void(TeamRank&, symm_mem::Block&)>& body) {
  return run_team(ranks, setup, [&](TeamRank& rank) {
    if (order != nullptr) rank.options().multicast_order = order;
    const auto team = rank.open();
    if (team == nullptr) return;
    const auto block = rank.block(*team, kBytes);
    if (block == nullptr) return;
    body(rank, *block);
    gathers(rank, *block);
    rank.ok(block->close(), "block.close");
    rank.ok(team->close(), "team.close");
  });
}

// Fails on the last rank once it is bound, as torchcomms#3130 reports: the other ranks have done
// more by then.
Status not_ready_at_map(Multicast& multicast, int failures) {
  static int tries = 0;
  const symm_mem::Group& group = multicast.site.agreement->group();
  Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;
  Status mine = multicast.import_object();
  if (mine) mine = multicast.add_device();
  agreed = multicast.vote(Phase::add_device, std::move(mine));
  if (!agreed) return agreed;
  mine = multicast.bind();
  if (mine && ++tries <= failures && group.me == group.size() - 1) {
    mine = Error{
        .call = "cuMemMap", .code = CUDA_ERROR_SYSTEM_NOT_READY, .phase = Phase::map_multicast};
  }
  if (mine) mine = multicast.map();
  agreed = multicast.vote(Phase::map_multicast, std::move(mine));
  if (!agreed) return agreed;
  return multicast.vote(Phase::release_create, multicast.release_create_reference());
}

TEST(Retry, AllRanksTryAgainTogetherAfterNotReady) {
  const auto twice = [](Multicast& multicast) { return not_ready_at_map(multicast, 2); };
  EXPECT_THAT(one_block(3, {.platform = "hgx-h200"}, twice,
                        [](TeamRank& rank, symm_mem::Block& block) {
                          rank.expect(block.multicast() != 0, block.why_no_multicast());
                          rank.expect(times(rank, "bind") == 3, "binds");
                          rank.expect(times(rank, "retry") == 2, "retries");
                        }),
              IsEmpty());
}

// The fabric manager never becomes ready in time: four tries on every rank, then unicast.
TEST(Retry, IsBounded) {
  EXPECT_THAT(one_block(2,
                        {.platform = "hgx-h200",
                         .scenario = "[faults]\nfabric_manager_stall_ns = 7_000_000_000\n"},
                        nullptr,
                        [](TeamRank& rank, symm_mem::Block& block) {
                          rank.expect(block.multicast() == 0, "multicast all the same");
                          rank.expect(times(rank, "bind") == 4, "binds");
                          for (const char* word : {"SYSTEM_NOT_READY (802)", "4 tries"}) {
                            rank.expect(
                                block.why_no_multicast().find(word) != std::string::npos,
                                std::string(word) + " is not in: " + block.why_no_multicast());
                          }
                        }),
              IsEmpty());
}

// No fabric manager at all (401), and one that has forgotten the GPUs (1): one try.
TEST(Retry, PermanentCodesAreNotTriedAgain) {
  for (const char* manager : {"absent", "restarted"}) {
    EXPECT_THAT(
        one_block(2,
                  {.platform = "hgx-h200",
                   .scenario = "[faults]\nfabric_manager = \"" + std::string(manager) + "\"\n"},
                  nullptr,
                  [](TeamRank& rank, symm_mem::Block& block) {
                    rank.expect(block.multicast() == 0, "multicast all the same");
                    rank.expect(times(rank, "bind") == 1 && times(rank, "retry") == 0, "tries");
                  }),
        IsEmpty())
        << manager;
  }
}

// Creation, bind and map say that all is well, but a rank's writes do not reach all replicas
// (cutlass#3143: dropped without a sign). The probe finds it, and no rank uses multicast.
Status one_replica_missed(Multicast& multicast) {
  Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;
  Status mine = multicast.import_object();
  if (mine) mine = multicast.add_device();
  agreed = multicast.vote(Phase::add_device, std::move(mine));
  if (!agreed) return agreed;
  if (multicast.site.agreement->group().me != 1) mine = multicast.bind();
  if (mine) mine = multicast.map();
  agreed = multicast.vote(Phase::map_multicast, std::move(mine));
  if (!agreed) return agreed;
  mine = multicast.release_create_reference();
  if (mine) mine = multicast.write_probe();
  agreed = multicast.vote(Phase::probe, std::move(mine));
  if (!agreed) return agreed;
  return multicast.vote(Phase::probe, multicast.check_probe());
}

TEST(Probe, AReplicaThatIsNotReachedMeansNoMulticastOnAnyRank) {
  EXPECT_THAT(one_block(3, {.platform = "hgx-h200"}, one_replica_missed,
                        [](TeamRank& rank, symm_mem::Block& block) {
                          rank.expect(block.multicast() == 0, "multicast all the same");
                          const std::string& why = block.why_no_multicast();
                          rank.expect(why.find("multicast probe") != std::string::npos &&
                                          why.find("phase probe, rank 1") != std::string::npos,
                                      why);
                        }),
              IsEmpty());
}

// hgx-h200 says that it supports FABRIC, and has no IMEX channel (measured).
TEST(Routes, FabricThatIsNotPermittedGivesWayToDescriptors) {
  EXPECT_THAT(run_team(3, {.platform = "hgx-h200"},
                       [](TeamRank& rank) {
                         const auto team = rank.open();
                         if (team == nullptr) return;
                         rank.expect(team->terms().route == symm_mem::Route::posix_fd, "route");
                         rank.ok(team->close(), "close");
                         rank.options().allowed_routes = 8;
                         rank.options().group = 2;
                         rank.fails_with(rank.try_open(), {"no handle type works on every rank",
                                                           "FABRIC: rank 0", "(800)"});
                       }),
              IsEmpty());
}

// Two hosts, each with a device of ordinal 0: different devices (SM-DEV-3), one NVLink domain.
TEST(Routes, EqualOrdinalsOnTwoHostsShareByFabric) {
  EXPECT_THAT(one_block(2, {.platform = "gb200-nvl72", .host_each = true}, nullptr,
                        [](TeamRank& rank, symm_mem::Block& block) {
                          rank.expect(block.multicast() != 0, block.why_no_multicast());
                        }),
              IsEmpty());
}

// One host has lost its IMEX channel: declined on both before any real memory is made. Virtual
// hosts run under one kernel, so that only the trial tells that descriptors do not travel either.
TEST(Routes, HostsWithoutACommonFabricDecline) {
  EXPECT_THAT(run_team(2,
                       {.platform = "gb200-nvl72",
                        .scenario = "[faults]\nimex_withdrawn_hosts = [1]\n",
                        .host_each = true},
                       [](TeamRank& rank) {
                         rank.fails_with(rank.try_open(),
                                         {"no handle type works on every rank", "FABRIC: rank 1",
                                          "(800)", "POSIX_FD: rank "});
                         rank.expect(times(rank, "allocate") == 0, "allocated");
                       }),
              IsEmpty());
}

TEST(Routes, OnlyCodesThatSpeakOfTheRouteMeanThatThereIsNone) {
  const auto means = [](const char* call, CUresult code) {
    return symm_mem::means_no_route(Error{.call = call, .code = code});
  };
  EXPECT_TRUE(means("cuMemCreate", CUDA_ERROR_NOT_PERMITTED));
  EXPECT_TRUE(means("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED));
  EXPECT_TRUE(means("cuMemSetAccess", CUDA_ERROR_INVALID_DEVICE));
  EXPECT_TRUE(means("cuMemSetAccess", CUDA_ERROR_INVALID_VALUE)) << "nvbandwidth#44";
  EXPECT_TRUE(means("cuMemImportFromShareableHandle", CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(means("cuMemMap", CUDA_ERROR_UNKNOWN));
  EXPECT_FALSE(means("cuMemCreate", CUDA_ERROR_INVALID_VALUE));
  EXPECT_FALSE(means("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_FALSE(means("cuMemMap", CUDA_ERROR_ILLEGAL_STATE));
  EXPECT_FALSE(means("agree", CUDA_SUCCESS)) << "a rank that is gone";
}

// Subgroups that overlap, one after the other, then all ranks; and a team that is opened again.
TEST(Teams, OverlappingGroupsThenTheWorldThenAgain) {
  EXPECT_THAT(
      run_team(3, {.platform = "hgx-h200"},
               [](TeamRank& rank) {
                 const std::vector<std::vector<int>> groups = {{1, 0}, {2, 1}, {}, {2, 0, 1}, {}};
                 for (const std::vector<int>& members : groups) {
                   const bool mine = members.empty() || std::find(members.begin(), members.end(),
                                                                  rank.me()) != members.end();
                   if (!mine) continue;
                   rank.options().members = members;
                   const auto team = rank.open();
                   if (team == nullptr) return;
                   const auto block = rank.block(*team, kBytes);
                   if (block == nullptr) return;
                   rank.expect(block->multicast() != 0, block->why_no_multicast());
                   rank.ok(block->fill(0, 1, 8, Path::multicast, rank.stream()), "fill");
                   rank.ok(block->barrier(rank.stream()), "barrier");
                   rank.holds(block->local(), 1, 8, "filled");
                   rank.ok(block->close(), "block.close");
                   rank.ok(team->close(), "team.close");
                 }
               }),
      IsEmpty());
}

// Two slots: more cycles than that, a third block beside two, and after them (SM-LEAK-1,
// SM-LEAK-3).
TEST(Slots, ReturnAndAreDoneWithoutWhereTheyAreTaken) {
  EXPECT_THAT(run_team(2, {.platform = "hgx-h200", .scenario = "[faults]\nmulticast_slots = 2\n"},
                       [](TeamRank& rank) {
                         const auto team = rank.open();
                         if (team == nullptr) return;
                         for (int cycle = 0; cycle < 3; ++cycle) {
                           const auto first = rank.block(*team, kBytes);
                           const auto second = rank.block(*team, kBytes);
                           const auto third = rank.block(*team, kBytes);
                           if (first == nullptr || second == nullptr || third == nullptr) return;
                           rank.expect(first->multicast() != 0, first->why_no_multicast());
                           rank.expect(second->multicast() != 0, second->why_no_multicast());
                           rank.expect(third->multicast() == 0, "a slot too many");
                           gathers(rank, *third);
                           for (const auto* block : {&third, &first, &second}) {
                             rank.ok((*block)->close(), "close");
                           }
                         }
                         rank.ok(team->close(), "team.close");
                       }),
              IsEmpty());
}

}  // namespace
}  // namespace symmcts::test

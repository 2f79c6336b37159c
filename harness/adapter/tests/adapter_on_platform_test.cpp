// The built-in implementations as the harness uses them, end to end on the software platform: two
// ranks, each a process of its own. The test program itself makes no driver call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/adapter/reference.hpp"
#include "machine.hpp"
#include "platform_rank.hpp"

namespace symmcts::test {
namespace {

using symm_mem::test::run_ranks_in;
using symm_mem::test::TemporaryDirectory;
using ::testing::IsEmpty;

std::unique_ptr<Implementation> make(const std::string& name) {
  for (const ImplementationEntry& entry : implementations()) {
    if (entry.name == name) return entry.make();
  }
  return nullptr;
}

using Body = std::function<void(PlatformRank&, Implementation&)>;

// Opens the implementation on both ranks, runs `body`, closes it.
Complaints run(RankSetup setup, const std::function<std::unique_ptr<Implementation>()>& maker,
               const Body& body) {
  const TemporaryDirectory directory;
  setup.directory = directory.path();
  Machine machine(directory.path(), setup.platform, setup.scenario);
  EXPECT_TRUE(machine.running());
  return run_ranks_in(directory.path(), 2,
                      [&](symm_mem::Exchange& exchange, Complaints& complaints) {
                        PlatformRank rank(exchange, setup, complaints);
                        if (!rank.started()) return;
                        const auto implementation = maker();
                        if (!rank.expect(implementation->open(rank.context()), "open")) return;
                        rank.expect_no_current_context("open");
                        body(rank, *implementation);
                        rank.expect(implementation->close(), "close");
                        rank.expect_no_current_context("close");
                      });
}

Complaints run(const RankSetup& setup, const std::string& name, const Body& body) {
  return run(
      setup, [name] { return make(name); }, body);
}

std::unique_ptr<Block> block_of(PlatformRank& rank, Implementation& implementation,
                                std::size_t bytes) {
  std::unique_ptr<Block> block;
  if (!rank.expect(implementation.make_block(bytes, block), "make_block")) return nullptr;
  rank.expect_no_current_context("make_block");
  rank.expect(block->bytes() == bytes && block->local() % 256 == 0, "size and alignment");
  rank.expect(block->peer(rank.context().rank) == block->local(), "own replica");
  return block;
}

constexpr std::size_t kBytes = (std::size_t{1} << 20) + 6;

struct Variant {
  const char* name;
  RankSetup setup;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class Reference : public ::testing::TestWithParam<Variant> {};

// Every route, root and kind of time: the object is mapped from an imported handle on both ranks,
// and what is gathered is right by both paths, with nothing between the rounds.
TEST_P(Reference, GathersByBothPathsThroughImportedHandles) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    for (int again = 0; again < 2; ++again) {
      auto block = block_of(rank, implementation, kBytes);
      if (block == nullptr || !rank.expect(block->multicast() != 0, "no multicast")) return;
      rank.expect(rank.imported(block->multicast()), "the multicast mapping is native");
      rank.expect(rank.imported(block->peer(1 - rank.context().rank)), "the peer's is native");
      rank.expect(!rank.imported(block->local()), "the own memory is imported");
      rank.all_gathers(*block, kBytes / 2, true);
      rank.all_gathers(*block, kBytes / 2, false);
      rank.all_gathers(*block, 1, true);
      rank.expect_no_current_context("all_gather");
      rank.expect(implementation.free_block(std::move(block)), "free_block");
    }
  };
  EXPECT_THAT(run(GetParam().setup, "reference", body), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Machines, Reference,
                         ::testing::Values(Variant{"fabric", {}},
                                           Variant{"descriptors", {.handle_types = 1}},
                                           Variant{"root1", {.root = 1}},
                                           Variant{"unmanaged", {.managed = false}},
                                           Variant{"h200", {.platform = "hgx-h200"}}),
                         [](const auto& info) { return std::string(info.param.name); });

// Time is virtual: ten collectives, their set-up and teardown end at the same nanosecond on each
// rank, whatever else the machine does and whichever message happens to arrive first.
TEST(ReferenceOnPlatform, EveryRunEndsAtTheSameVirtualTime) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    auto block = block_of(rank, implementation, kBytes);
    if (block == nullptr) return;
    rank.all_gathers(*block, kBytes / 2, true);
    rank.all_gathers(*block, kBytes / 2, false);
    rank.expect(implementation.free_block(std::move(block)), "free_block");
    rank.expect(false, "ends at " + std::to_string(rank.clock()));
  };
  Complaints first = run({}, "reference", body);
  ASSERT_EQ(first.size(), 2u);
  for (int again = 0; again < 4; ++again) {
    EXPECT_THAT(run({}, "reference", body), ::testing::UnorderedElementsAreArray(first));
  }
}

// A write lands at its offset of every replica, and leaves its neighbours alone.
TEST(ReferenceOnPlatform, AMulticastWriteReachesEveryReplicaAndNothingElse) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    auto block = block_of(rank, implementation, 4096);
    if (block == nullptr) return;
    const CUdeviceptr source = rank.make_source(4096);
    const int self = rank.context().rank;
    if (self == 0) {
      rank.fill_source(source, 4096, 0);
      rank.expect(block->write_multicast(0, source, 4096, rank.stream()), "write");
    }
    rank.expect(block->barrier(rank.stream()), "barrier");
    if (self == 1) {
      rank.fill_source(source, 4096, 1);
      rank.expect(block->write_multicast(1001, source, 13, rank.stream()), "write");
    }
    rank.expect(block->barrier(rank.stream()), "barrier");
    const auto got = rank.read(block->local(), 4096);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool late = i >= 1001 && i < 1014;
      const auto wanted =
          late ? PlatformRank::pattern(1, 1, i - 1001) : PlatformRank::pattern(0, 0, i);
      if (!rank.expect(got[i] == wanted, "byte " + std::to_string(i))) break;
    }
    rank.expect(!block->write_multicast(4096, source, 1, rank.stream()), "past the end");
    rank.expect(!block->write_multicast(~std::size_t{0}, source, 2, rank.stream()), "overflow");
    rank.expect(!block->all_gather(source, 2049, true, rank.stream()), "too large");
    rank.expect(implementation.free_block(std::move(block)), "free_block");
  };
  EXPECT_THAT(run({}, "reference", body), IsEmpty());
}

TEST(ReferenceOnPlatform, WithoutAPermitThereIsUnicastOnly) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    auto block = block_of(rank, implementation, kBytes);
    if (block == nullptr) return;
    rank.expect(block->multicast() == 0, "multicast without a permit");
    const auto& phases = rank.phases();
    rank.expect(std::find(phases.begin(), phases.end(), "create-multicast") == phases.end(),
                "the create step was taken");
    rank.all_gathers(*block, kBytes / 2, false);
    const Outcome refused = block->write_multicast(0, block->local(), 1, rank.stream());
    rank.expect(!refused.ok && refused.text.find("no multicast permit") != std::string::npos,
                "refusal says why: " + refused.text);
    rank.expect(implementation.free_block(std::move(block)), "free_block");
  };
  EXPECT_THAT(run({.permit = false}, "reference", body), IsEmpty());
}

// The root's own size differs: both ranks get the same refusal, and can go on (SM-LAYO-1).
TEST(ReferenceOnPlatform, DifferentSizesAreRefusedOnEveryRank) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    std::unique_ptr<Block> block;
    const Outcome refused =
        implementation.make_block(rank.context().rank == 0 ? 4096 : 8192, block);
    rank.expect(!refused.ok && refused.rank == 1 && refused.phase == "layout",
                "refusal: " + refused.text);
    rank.expect(block == nullptr, "a block all the same");
    block = block_of(rank, implementation, 4096);
    if (block != nullptr) rank.expect(implementation.free_block(std::move(block)), "free_block");
  };
  EXPECT_THAT(run({}, "reference", body), IsEmpty());
}

symm_mem::Status fails_on_rank_1(symm_mem::Multicast& multicast) {
  using symm_mem::Error;
  using symm_mem::Phase;
  symm_mem::Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;
  symm_mem::Status mine = multicast.import_object();
  if (mine && multicast.site.agreement->group().me == 1) {
    mine = Error{.call = "cuMulticastAddDevice",
                 .code = CUDA_ERROR_NOT_SUPPORTED,
                 .phase = Phase::add_device};
  } else if (mine) {
    mine = multicast.add_device();
  }
  return multicast.vote(Phase::add_device, std::move(mine));
}

// More tries than the machine has multicast slots would be another test; here: every rank comes to
// the same end, and unicast works (SM-AGRE-3, SM-AGRE-4).
TEST(ReferenceOnPlatform, AFailureOnOneRankLeavesUnicastOnAll) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    auto block = block_of(rank, implementation, kBytes);
    if (block == nullptr) return;
    rank.expect(block->multicast() == 0, "multicast after a failed vote");
    const Outcome refused = block->write_multicast(0, block->local(), 1, rank.stream());
    rank.expect(refused.text.find("CUDA_ERROR_NOT_SUPPORTED (801)") != std::string::npos &&
                    refused.text.find("rank 1") != std::string::npos,
                "reason: " + refused.text);
    rank.all_gathers(*block, kBytes / 2, false);
    rank.expect(implementation.free_block(std::move(block)), "free_block");
  };
  EXPECT_THAT(run(
                  {}, [] { return make_reference("fails", fails_on_rank_1); }, body),
              IsEmpty());
}

// pytorch#192530: the root's mapping, and no other, is native. The data is right all the same.
TEST(DefectOnPlatform, RootKeepsNativeMapsTheNativeHandleOnTheRootOnly) {
  for (const int root : {0, 1}) {
    const auto body = [root](PlatformRank& rank, Implementation& implementation) {
      auto block = block_of(rank, implementation, kBytes);
      if (block == nullptr || !rank.expect(block->multicast() != 0, "no multicast")) return;
      rank.expect(rank.imported(block->multicast()) == (rank.context().rank != root),
                  "provenance of rank " + std::to_string(rank.context().rank));
      rank.all_gathers(*block, kBytes / 2, true);
      rank.expect(implementation.free_block(std::move(block)), "free_block");
    };
    EXPECT_THAT(run({.root = root}, "defect:root-keeps-native", body), IsEmpty());
  }
}

// torchcomms#3506 by descriptor: a descriptor is a reference, so the early release shows nothing
// but its place in the order of phases.
TEST(DefectOnPlatform, RootReleasesEarlyDropsTheReferenceBeforeItAddsItsDevice) {
  const auto body = [](PlatformRank& rank, Implementation& implementation) {
    auto block = block_of(rank, implementation, kBytes);
    if (block == nullptr) return;
    const auto& phases = rank.phases();
    const auto at = [&phases](const char* name) {
      return std::find(phases.begin(), phases.end(), name) - phases.begin();
    };
    if (rank.context().rank == 0) rank.expect(at("release-create") < at("add-device"), "order");
    rank.expect(implementation.free_block(std::move(block)), "free_block");
  };
  EXPECT_THAT(run({.handle_types = 1}, "defect:root-releases-early", body), IsEmpty());
}

TEST(Implementations, ListsTheReferenceFirstThenTheDefectsWithTheirBugs) {
  const auto& list = implementations();
  ASSERT_GE(list.size(), 3u);
  EXPECT_EQ(list.front().name, "reference");
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_EQ(list[i].name.rfind("defect:", 0), 0u);
    EXPECT_EQ(list[i].caught_by.rfind("SM-", 0), 0u);
    EXPECT_NE(list[i].source.find('#'), std::string::npos);
    if (i > 1) {
      EXPECT_LT(list[i - 1].name, list[i].name);
    }
    EXPECT_EQ(list[i].make()->name(), list[i].name);
  }
}

}  // namespace
}  // namespace symmcts::test

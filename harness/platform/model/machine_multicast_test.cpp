// Multicast objects. Each test names the fact or report it was derived from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/machine_fixture.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class MulticastTest : public MachineTest {
 protected:
  // A complete team of GPUs 0 and 1, created by rank 0.
  HandleInfo complete_team() {
    const HandleInfo team = create_team(a_, 2);
    EXPECT_EQ(add(a_, team, 0), Code::success);
    EXPECT_EQ(add(a_, team, 1), Code::success);
    return team;
  }
};

TEST_F(MulticastTest, CreateChecksItsArguments) {
  HandleInfo info;
  // torchcomms, XLA: fewer than two devices
  EXPECT_EQ(machine_.multicast_create(a_, 1, 2 * kMiB, 0, info), Code::invalid_value);
  EXPECT_EQ(machine_.multicast_create(a_, 0, 2 * kMiB, 0, info), Code::invalid_value);
  // cuda.h:cuMulticastCreate: a multiple of the multicast granularity
  EXPECT_EQ(machine_.multicast_create(a_, 2, kMiB, 0, info), Code::invalid_value);
  EXPECT_EQ(machine_.multicast_create(a_, 2, 0, 0, info), Code::invalid_value);
}

TEST_F(MulticastTest, DuplicateAndSurplusDevicesAreInvalid) {
  // facts A8.3, A8.4 (open kernel modules; the code is inferred)
  const HandleInfo team = create_team(a_, 2);
  EXPECT_EQ(add(a_, team, 0), Code::success);
  EXPECT_EQ(add(a_, team, 0), Code::invalid_value);
  EXPECT_EQ(add(a_, team, 1), Code::success);
  EXPECT_EQ(add(a_, team, 2), Code::invalid_value);
  EXPECT_EQ(add(a_, create_team(a_, 2), 9), Code::invalid_device);
}

// facts A8.2, A9.5
TEST_F(MulticastTest, BindAndMapWaitForTheLastDevice) {
  // cuda.h:cuMulticastAddDevice: both block until all devices were added
  const HandleInfo team = create_team(a_, 2);
  const HandleInfo memory = create(a_, 0, kHandleFabric);
  std::uint64_t mapping = 0;
  EXPECT_EQ(add(a_, team, 0, 10), Code::success);
  EXPECT_TRUE(bind(a_, team, memory).waits);
  EXPECT_TRUE(machine_.map(a_, team.handle, 0, mapping).waits);
  const HandleInfo peer = import(b_, token_of(a_, team));
  EXPECT_EQ(add(b_, peer, 1, 700), Code::success);
  const TeamCall bound = bind(a_, team, memory, 0, 0, 2 * kMiB, 20);
  EXPECT_FALSE(bound.waits);
  EXPECT_EQ(bound.code, Code::success);
  EXPECT_EQ(bound.at, 700u) << "not before the last device was added";
  EXPECT_EQ(machine_.map(a_, team.handle, 900, mapping).at, 900u);
}

// facts A17.5
TEST_F(MulticastTest, BindChecksEvenBadArgumentsOnlyAfterTheWait) {
  const HandleInfo team = create_team(a_, 2);
  EXPECT_TRUE(bind(a_, team, create(a_, 0, kHandleFabric), 1, 0, 1).waits);
}

// facts A9.2, A9.3, A9.13
TEST_F(MulticastTest, BindRefusals) {
  // cuda.h:cuMulticastBindMem
  const HandleInfo team = complete_team();
  const HandleInfo memory = create(a_, 0, kHandleFabric);
  EXPECT_EQ(bind(a_, team, memory, kMiB).code, Code::invalid_value);             // alignment
  EXPECT_EQ(bind(a_, team, memory, 0, kMiB).code, Code::invalid_value);          // alignment
  EXPECT_EQ(bind(a_, team, memory, 0, 0, kMiB).code, Code::invalid_value);       // alignment
  EXPECT_EQ(bind(a_, team, memory, 0, 0, 0).code, Code::invalid_value);          // nothing
  EXPECT_EQ(bind(a_, team, memory, 4 * kMiB).code, Code::invalid_value);         // object's end
  EXPECT_EQ(bind(a_, team, memory, 0, 2 * kMiB).code, Code::invalid_value);      // memory's end
  EXPECT_EQ(bind(a_, team, memory, ~(2 * kMiB - 1)).code, Code::invalid_value);  // overflow
  EXPECT_EQ(bind(a_, team, create(a_, 2, kHandleFabric)).code, Code::invalid_device);  // not added
  EXPECT_EQ(bind(a_, team, create(a_, 1, 0)).code, Code::invalid_value);  // not shareable
  EXPECT_THAT(*machine_.replicas(team.object), IsEmpty());
}

TEST_F(MulticastTest, BindNeedsAMulticastHandleAndMemoryThatTheCallerHolds) {
  const HandleInfo team = complete_team();
  const HandleInfo memory = create(a_, 0, kHandleFabric), foreign = create(b_, 1, kHandleFabric);
  EXPECT_EQ(bind(a_, memory, memory).code, Code::invalid_value);
  EXPECT_EQ(bind(a_, team, team).code, Code::invalid_value);
  EXPECT_EQ(bind(a_, team, foreign).code, Code::invalid_value);
  EXPECT_EQ(add(a_, memory, 0), Code::invalid_value);
}

TEST_F(MulticastTest, AnUnshareableObjectTakesUnshareableMemory) {
  // facts A7.7b
  const HandleInfo team = create_team(a_, 2, 0);
  add(a_, team, 0);
  add(a_, team, 1);
  EXPECT_EQ(bind(a_, team, create(a_, 0, 0)).code, Code::success);
}

TEST_F(MulticastTest, AnOccupiedRangeIsRefusedAndAFreedOneIsNot) {
  // facts A9.12, A9.14, A10.1
  const HandleInfo team = complete_team();
  const HandleInfo one = create(a_, 0, kHandleFabric), two = create(a_, 0, kHandleFabric);
  EXPECT_EQ(bind(a_, team, one).code, Code::success);
  EXPECT_EQ(bind(a_, team, two).code, Code::invalid_value);
  EXPECT_EQ(bind(a_, team, two, 2 * kMiB).code, Code::success);
  EXPECT_EQ(machine_.multicast_unbind(a_, team.handle, 0, 0, 4 * kMiB), Code::invalid_value);
  EXPECT_EQ(machine_.multicast_unbind(a_, team.handle, 1, 0, 2 * kMiB), Code::invalid_value);
  EXPECT_EQ(machine_.multicast_unbind(a_, team.handle, 0, 0, 2 * kMiB), Code::success);
  EXPECT_EQ(machine_.multicast_unbind(a_, team.handle, 0, 0, 2 * kMiB), Code::invalid_value);
  EXPECT_EQ(bind(a_, team, two).code, Code::success) << "one allocation, twice in one object";
}

TEST_F(MulticastTest, ReplicasComeInOrderOfGpuAndOffset) {
  const HandleInfo team = complete_team();
  const HandleInfo zero = create(a_, 0, kHandleFabric), one = create(a_, 1, kHandleFabric);
  const std::uint64_t before = machine_.binding_generation();
  EXPECT_EQ(bind(a_, team, one, 0).code, Code::success);
  EXPECT_EQ(bind(a_, team, zero, 2 * kMiB).code, Code::success);
  EXPECT_EQ(bind(a_, team, zero, 0).code, Code::success);
  std::vector<std::pair<int, std::uint64_t>> seen;
  for (const Replica& range : *machine_.replicas(team.object)) {
    seen.emplace_back(range.gpu, range.mc_offset);
  }
  EXPECT_THAT(seen, ElementsAre(std::pair(0, 0), std::pair(0, 2 * kMiB), std::pair(1, 0)));
  EXPECT_EQ(machine_.binding_generation(), before + 3);
}

// facts A10.3, A17.7
TEST_F(MulticastTest, MemoryThatIsFreedLeavesItsTeamAndUnbindFindsNothing) {
  // pytorch#162429: unbind after free returns INVALID_VALUE
  const HandleInfo team = complete_team();
  const HandleInfo memory = create(a_, 0, kHandleFabric);
  ASSERT_EQ(bind(a_, team, memory).code, Code::success);
  const std::uint64_t before = machine_.binding_generation();
  EXPECT_EQ(machine_.release(a_, memory.handle), Code::success) << "a binding is no reference";
  EXPECT_THAT(*machine_.replicas(team.object), IsEmpty());
  EXPECT_NE(machine_.binding_generation(), before);
  EXPECT_EQ(machine_.multicast_unbind(a_, team.handle, 0, 0, 2 * kMiB), Code::invalid_value);
}

// facts A7.2, A10.6, A17.4
TEST_F(MulticastTest, SlotsAreTakenAtTheLastAddAndMissedAtBind) {
  // NCCL#2077: exhaustion is OUT_OF_MEMORY at bind; the open kernel modules ask at the last attach
  const HandleInfo first = complete_team();
  complete_team();
  EXPECT_EQ(machine_.slots_used(), 2u);
  const HandleInfo third = create_team(a_, 2);
  EXPECT_EQ(add(a_, third, 0), Code::success);
  EXPECT_EQ(add(a_, third, 1), Code::success);
  std::uint64_t mapping = 0;
  const HandleInfo memory = create(a_, 0, kHandleFabric);
  EXPECT_EQ(bind(a_, third, memory).code, Code::out_of_memory);
  EXPECT_EQ(machine_.map(a_, third.handle, 0, mapping).code, Code::out_of_memory);
  // mscclpp#759: the slot returns with the last reference, wherever that is
  const HandleInfo peer = import(b_, token_of(a_, first));
  EXPECT_EQ(machine_.release(a_, first.handle), Code::success);
  EXPECT_EQ(machine_.slots_used(), 2u);
  EXPECT_EQ(machine_.release(b_, peer.handle), Code::success);
  EXPECT_EQ(machine_.slots_used(), 1u);
  EXPECT_EQ(bind(a_, third, memory).code, Code::out_of_memory) << "its set-up has failed for good";
  EXPECT_EQ(bind(a_, complete_team(), memory).code, Code::success);
}

// facts A17.8
TEST_F(MulticastTest, ADescriptorHoldsTheSlot) {
  // facts A10.8
  const HandleInfo team = complete_team();
  std::uint64_t id = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, team.handle, id), Code::success);
  EXPECT_EQ(machine_.release(a_, team.handle), Code::success);
  EXPECT_EQ(machine_.slots_used(), 1u);
  machine_.close_descriptor(id);
  EXPECT_EQ(machine_.slots_used(), 0u);
}

// facts A4.9, A8.9, A17.3
TEST_F(MulticastTest, ALateFabricImportGetsAnEmptyObject) {
  // torchcomms#3506: the root imported its own handle and dropped the create reference too early
  const HandleInfo root = create_team(a_, 2);
  const FabricToken token = token_of(a_, root);
  const HandleInfo self = import(a_, token);
  EXPECT_EQ(self.object, root.object);
  EXPECT_EQ(machine_.release(a_, root.handle), Code::success);
  const HandleInfo late = import(b_, token);
  EXPECT_NE(late.object, self.object);
  EXPECT_EQ(late.size, 0u);
  EXPECT_FALSE(late.native);
  // Every call before the bind succeeds, on both ranks; no number of devices completes either team.
  EXPECT_EQ(add(a_, self, 0), Code::success);
  for (const int gpu : {1, 2, 3}) EXPECT_EQ(add(b_, late, gpu), Code::success);
  EXPECT_TRUE(bind(a_, self, create(a_, 0, kHandleFabric)).waits);
  EXPECT_TRUE(bind(b_, late, create(b_, 1, kHandleFabric)).waits);
  const auto view = machine_.team_of_handle(late.handle);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->wanted, 0u);
  EXPECT_EQ(view->creator, 0);
  EXPECT_THAT(view->added, ElementsAre(1, 2, 3));
}

// facts A4.8b
TEST_F(MulticastTest, AnEarlyFabricImportSurvivesTheRelease) {
  // the fix of torchcomms#3506: imports first, then the release
  const HandleInfo root = create_team(a_, 2);
  const FabricToken token = token_of(a_, root);
  const HandleInfo self = import(a_, token), peer = import(b_, token);
  EXPECT_EQ(machine_.release(a_, root.handle), Code::success);
  EXPECT_EQ(add(a_, self, 0), Code::success);
  EXPECT_EQ(add(b_, peer, 1), Code::success);
  EXPECT_EQ(bind(b_, peer, create(b_, 1, kHandleFabric)).code, Code::success);
}

// facts A17.2
TEST_F(MulticastTest, ANativeMappingKeepsTheTokenAlive) {
  // cuda.h:cuMemRelease: a mapping alone keeps the object; that the token lives with it is inferred
  const HandleInfo root = complete_team();
  const FabricToken token = token_of(a_, root);
  std::uint64_t mapping = 0;
  ASSERT_EQ(machine_.map(a_, root.handle, 0, mapping).code, Code::success);
  EXPECT_EQ(machine_.release(a_, root.handle), Code::success);
  EXPECT_EQ(import(b_, token).object, root.object);
}

TEST_F(MulticastTest, OneProcessMayServeEveryGpu) {
  // facts A7.3, A7.7b: no device is implied; one process adds all of its GPUs and binds each one's
  // memory in turn; the object may be mapped more than once
  const HandleInfo team = create_team(a_, 2, 0);
  EXPECT_TRUE(machine_.team_of_handle(team.handle)->added.empty());
  for (const int gpu : {0, 1}) EXPECT_EQ(add(a_, team, gpu), Code::success);
  for (const int gpu : {0, 1}) EXPECT_EQ(bind(a_, team, create(a_, gpu, 0)).code, Code::success);
  std::uint64_t first = 0, second = 0;
  EXPECT_EQ(machine_.map(a_, team.handle, 0, first).code, Code::success);
  EXPECT_EQ(machine_.map(a_, team.handle, 0, second).code, Code::success);
  EXPECT_NE(first, second);
}

TEST_F(MulticastTest, AnObjectIsAddressRangeNotMemory) {
  // facts A7.8: hundreds of GiB at once (TransformerEngine), slices of which are bound
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 39;
  const HandleInfo team = create_team(a_, 2, kHandlePosixFd, kHuge);
  for (const int gpu : {0, 1}) EXPECT_EQ(add(a_, team, gpu), Code::success);
  EXPECT_EQ(bind(a_, team, create(a_, 0, kHandlePosixFd), kHuge - 2 * kMiB).code, Code::success);
  EXPECT_EQ(machine_.memory_used(0), 2 * kMiB);
}

TEST_F(MulticastTest, OneMemoryInSeveralObjectsAndSeveralSegmentsInOne) {
  // facts A6.13 (FlashInfer: a "full" and a "tp" object), A5.3 and A9.14 (segments at running
  // offsets), A9.15 (ranks bind in any order)
  const HandleInfo full = complete_team(), part = complete_team();
  const HandleInfo one = create(a_, 1, kHandleFabric), two = create(a_, 0, kHandleFabric);
  EXPECT_EQ(bind(a_, full, one).code, Code::success);
  EXPECT_EQ(bind(a_, part, one).code, Code::success);
  EXPECT_EQ(bind(a_, full, two).code, Code::success);
  EXPECT_EQ(bind(a_, full, two, 2 * kMiB).code, Code::success);
  EXPECT_EQ(machine_.replicas(full.object)->size(), 3u);
  EXPECT_EQ(machine_.release(a_, full.handle), Code::success);
  EXPECT_EQ(machine_.replicas(full.object), nullptr) << "A10.4: its bindings went with it";
  EXPECT_EQ(machine_.replicas(part.object)->size(), 1u);
}

TEST_F(MulticastTest, HandlesOfBothTypesTravelByEitherRoute) {
  // facts A7.7, A4.12 (export before any device is added), A16.4 (a descriptor is enough)
  const HandleInfo team = create_team(a_, 2, kHandleFabric | kHandlePosixFd);
  std::uint64_t descriptor = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, team.handle, descriptor), Code::success);
  const FabricToken token = token_of(a_, team);
  EXPECT_EQ(import(b_, token).object, team.object);
  EXPECT_EQ(machine_.release(a_, team.handle), Code::success);
  HandleInfo late;
  EXPECT_EQ(machine_.import_descriptor(b_, descriptor, late), Code::success);
  EXPECT_EQ(late.object, team.object) << "the descriptor kept it";
}

TEST_F(MulticastTest, NothingIsRemovedOnceItWasAdded) {
  // facts A8.1: permanent for the object's lifetime, also when the device's only process has gone
  const HandleInfo team = create_team(a_, 2);
  const HandleInfo peer = import(b_, token_of(a_, team));
  EXPECT_EQ(add(b_, peer, 0), Code::success);
  EXPECT_EQ(machine_.release(b_, peer.handle), Code::success);
  EXPECT_EQ(add(a_, team, 0), Code::invalid_value) << "A8.8: two ranks of one GPU cannot join";
}

TEST_F(MulticastTest, TheDeadStayInTheirTeams) {
  // facts A10.10
  const HandleInfo team = create_team(a_, 2);
  const HandleInfo peer = import(b_, token_of(a_, team));
  EXPECT_EQ(add(b_, peer, 1), Code::success);
  machine_.detach(b_);
  EXPECT_EQ(add(a_, team, 0), Code::success);
  EXPECT_EQ(bind(a_, team, create(a_, 0, kHandleFabric)).code, Code::success);
}

// Two NVLink domains of one host each.
class DomainsTest : public MachineTest {
 protected:
  static Profile two_domains() {
    Profile profile = open_profile();
    profile.gpus_per_domain.value = 4;
    profile.multicast_slots.value = 1;
    return profile;
  }
  DomainsTest() : MachineTest(two_domains()), far_(*machine_.attach(2, 1)) {}
  ClientId far_;  // on host 1
};

TEST_F(DomainsTest, AGpuOfAnotherDomainIsRefusedAndTheTeamCanStillGather) {
  // facts A8.3: a clique other than the first GPU's; A8.4: INVALID_DEVICE
  const HandleInfo team = create_team(a_, 2);
  const HandleInfo peer = import(far_, token_of(a_, team));
  EXPECT_EQ(add(a_, team, 0), Code::success);
  EXPECT_EQ(add(far_, peer, 4), Code::invalid_device);
  EXPECT_EQ(add(a_, team, 1), Code::success);
  EXPECT_EQ(bind(a_, team, create(a_, 0, kHandleFabric)).code, Code::success);
  EXPECT_EQ(add(far_, peer, 4), Code::invalid_value) << "one too many, wherever it is";
}

TEST_F(DomainsTest, TheFirstGpuDecidesTheDomain) {
  const HandleInfo team = create_team(a_, 2);
  const HandleInfo peer = import(far_, token_of(a_, team));
  EXPECT_EQ(add(far_, peer, 4), Code::success);
  EXPECT_EQ(add(a_, team, 0), Code::invalid_device);
  EXPECT_EQ(add(far_, peer, 5), Code::success);
}

TEST_F(DomainsTest, EachDomainHasSlotsOfItsOwn) {
  // infra-controller#1558: a budget of multicast teams a rack
  for (const auto& [client, gpu] : {std::pair{a_, 0}, std::pair{far_, 4}}) {
    const HandleInfo team = create_team(client, 2), surplus = create_team(client, 2);
    for (const HandleInfo& each : {team, surplus}) {
      EXPECT_EQ(add(client, each, gpu), Code::success);
      EXPECT_EQ(add(client, each, gpu + 1), Code::success);
    }
    const HandleInfo memory = create(client, gpu, kHandleFabric);
    EXPECT_EQ(bind(client, team, memory).code, Code::success);
    EXPECT_EQ(bind(client, surplus, memory).code, Code::out_of_memory);
  }
  EXPECT_EQ(machine_.slots_used(), 2u);
}

}  // namespace
}  // namespace symmcts::platform

// What a machine does when something of it is out of order. Each test names the fact that it was
// derived from (facts/driver-semantics.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/machine_fixture.hpp"

namespace symmcts::platform {
namespace {

using ::testing::IsEmpty;

constexpr Ns kSecond = 1'000'000'000;

// A machine with faults; rank r is a client on host r / 2.
class Faulty {
 public:
  explicit Faulty(const Faults& faults, const Profile& profile = open_profile())
      : machine(profile, 1, faults) {
    for (int rank = 0; rank < 4; ++rank) ranks.push_back(*machine.attach(rank, rank / 2));
  }

  HandleInfo memory(int rank, int gpu, std::uint32_t types = kHandlePosixFd,
                    std::uint64_t size = 2 * kMiB) {
    HandleInfo info;
    EXPECT_EQ(machine.create_memory(at(rank), gpu, size, types, info), Code::success);
    return info;
  }
  HandleInfo object(int rank, std::uint64_t size = 2 * kMiB, std::uint32_t types = kHandlePosixFd) {
    HandleInfo info;
    EXPECT_EQ(machine.multicast_create(at(rank), 2, size, types, info), Code::success);
    return info;
  }
  // An object of rank 0 with GPUs 0 and 1, the second one added at `gathered`.
  HandleInfo team(Ns gathered = 0, std::uint64_t size = 2 * kMiB) {
    const HandleInfo made = object(0, size);
    EXPECT_EQ(machine.multicast_add_device(at(0), made.handle, 0, 0), Code::success);
    EXPECT_EQ(machine.multicast_add_device(at(0), made.handle, 1, gathered), Code::success);
    return made;
  }
  TeamCall bind(const HandleInfo& team, const HandleInfo& memory, Ns now = 0,
                std::uint64_t mc_offset = 0, std::uint64_t size = 2 * kMiB) {
    return machine.multicast_bind(at(0), team.handle, mc_offset, memory.object, 0, size, now);
  }
  TeamCall map(const HandleInfo& team, Ns now = 0) {
    std::uint64_t mapping = 0;
    return machine.map(at(0), team.handle, now, mapping);
  }
  ClientId at(int rank) const { return ranks[static_cast<std::size_t>(rank)]; }

  Machine machine;
  std::vector<ClientId> ranks;
};

// A9.6, A8.2: the manager stalled for 7 s, the driver gave up 1 to 2 s before it had finished; the
// team may still become ready, so that a later call finds it.
TEST(FabricManagerFault, AStallIsSystemNotReadyAfterAWaitAndALaterCallSucceeds) {
  Faults faults;
  faults.fabric_manager_stall = 7 * kSecond;
  Faulty f(faults);
  const HandleInfo team = f.team(kSecond);
  const HandleInfo memory = f.memory(0, 0);
  const TeamCall early = f.bind(team, memory, 0);
  EXPECT_FALSE(early.waits);
  EXPECT_EQ(early.code, Code::system_not_ready);
  EXPECT_GE(early.at, 6 * kSecond) << "1 to 2 s before the 8th second";
  EXPECT_LE(early.at, 7 * kSecond);
  EXPECT_THAT(*f.machine.replicas(team.object), IsEmpty());
  EXPECT_EQ(f.map(team, 0).code, Code::system_not_ready);
  const TeamCall again = f.bind(team, memory, early.at);
  EXPECT_EQ(again.code, Code::success);
  EXPECT_EQ(again.at, 8 * kSecond) << "when the manager has answered";
  EXPECT_EQ(f.map(team, 9 * kSecond).at, 9 * kSecond);
}

// A9.6: a delay shorter than the driver's patience only takes time.
// facts A9.7
TEST(FabricManagerFault, AShortDelayOnlyTakesTime) {
  Faults faults;
  faults.fabric_manager_stall = 2 * kSecond;
  Faulty f(faults);
  const TeamCall bound = f.bind(f.team(), f.memory(0, 0), kSecond);
  EXPECT_EQ(bound.code, Code::success);
  EXPECT_EQ(bound.at, 2 * kSecond);
}

// A9.8, A9.8b, A0.3, A7.5, A8.6: without a manager create and add succeed, bind and map answer 401.
TEST(FabricManagerFault, AbsentIsIllegalStateAtBindAndMapAndNotBefore) {
  Faults faults;
  faults.fabric_manager = FabricManager::absent;
  Faulty f(faults);
  const HandleInfo waiting = f.object(0);
  const HandleInfo memory = f.memory(0, 0);
  EXPECT_TRUE(f.bind(waiting, memory).waits) << "nobody has asked the manager yet";
  const HandleInfo team = f.team();
  EXPECT_EQ(f.bind(team, memory).code, Code::illegal_state);
  EXPECT_EQ(f.map(team).code, Code::illegal_state);
}

// A9.9, A11.8: a manager that was restarted no longer knows the GPUs.
TEST(FabricManagerFault, RestartedIsInvalidValueAtBind) {
  Faults faults;
  faults.fabric_manager = FabricManager::restarted;
  Faulty f(faults);
  EXPECT_EQ(f.bind(f.team(), f.memory(0, 0)).code, Code::invalid_value);
}

// A9.10, A7.5: OUT_OF_MEMORY at bind, not at create or add.
// facts A17.1
TEST(SlotsFault, NoSlotIsOutOfMemoryAtBind) {
  Faults faults;
  faults.multicast_slots = 0;
  Faulty f(faults);
  EXPECT_EQ(f.bind(f.team(), f.memory(0, 0)).code, Code::out_of_memory);
}

// A11.7: the slots are the machine's, whoever takes them.
TEST(SlotsFault, RanksShareTheSlots) {
  Faults faults;
  faults.multicast_slots = 1;
  Faulty f(faults);
  f.team();
  const HandleInfo second = f.object(1);
  for (const int gpu : {0, 1}) {
    EXPECT_EQ(f.machine.multicast_add_device(f.at(1), second.handle, gpu, 0), Code::success);
  }
  const HandleInfo memory = f.memory(1, 0);
  EXPECT_EQ(f.machine.multicast_bind(f.at(1), second.handle, 0, memory.object, 0, 2 * kMiB, 0).code,
            Code::out_of_memory);
}

// A3.5: the capacity is rounded up, and what lies past the requested size can be bound.
TEST(CapacityFault, BindsPastTheRequestedSizeSucceedUpToTheUnit) {
  Faults faults;
  faults.multicast_capacity_unit = 8 * kMiB;
  Faulty f(faults);
  const HandleInfo team = f.team(0, 2 * kMiB);
  EXPECT_EQ(team.size, 8 * kMiB) << "what a mapping may be as long as";
  const HandleInfo memory = f.memory(0, 0);
  EXPECT_EQ(f.bind(team, memory, 0, 6 * kMiB).code, Code::success);
  EXPECT_EQ(f.bind(team, memory, 0, 8 * kMiB).code, Code::invalid_value);
  EXPECT_EQ(f.object(0, 8 * kMiB).size, 8 * kMiB) << "a whole unit stays as it is";
}

// A9.1: without that a bind ends at the requested size.
TEST(CapacityFault, WithoutAUnitTheRequestedSizeIsTheEnd) {
  Faulty f({});
  EXPECT_EQ(f.bind(f.team(), f.memory(0, 0), 0, 2 * kMiB).code, Code::invalid_value);
}

// A0.6, A2.4, A7.6: FABRIC without a channel is NOT_PERMITTED at create; A4.4, A11.2, A16.6: at
// import too; A16.6: POSIX_FD needs none.
TEST(ImexFault, AHostWithoutAChannelCanNeitherCreateNorImport) {
  Faults faults;
  faults.imex_withdrawn_hosts = {1};
  Faulty f(faults);
  HandleInfo info;
  EXPECT_EQ(f.machine.create_memory(f.at(2), 4, 2 * kMiB, kHandleFabric, info),
            Code::not_permitted);
  EXPECT_EQ(f.machine.multicast_create(f.at(2), 2, 2 * kMiB, kHandleFabric, info),
            Code::not_permitted);
  EXPECT_EQ(f.machine.create_memory(f.at(2), 4, 2 * kMiB, kHandlePosixFd, info), Code::success);
  const HandleInfo shared = f.memory(0, 0, kHandleFabric);
  FabricToken token{};
  ASSERT_EQ(f.machine.export_fabric(f.at(0), shared.handle, token), Code::success);
  EXPECT_EQ(f.machine.import_fabric(f.at(2), token, info), Code::not_permitted);
  EXPECT_EQ(f.machine.import_fabric(f.at(1), token, info), Code::success) << "host 0 has one";
}

// A0.5: the refusal comes with the attach, not with the creation.
TEST(ConfidentialComputing, AddDeviceIsNotSupported) {
  Faults faults;
  faults.confidential_computing = true;
  Faulty f(faults);
  const HandleInfo object = f.object(0);
  EXPECT_EQ(f.machine.multicast_add_device(f.at(0), object.handle, 0, 0), Code::not_supported);
  EXPECT_EQ(f.memory(0, 0).size, 2 * kMiB) << "memory is as usual (A0.4: P2P still works)";
}

// A10.2: RM detaches by (GPU, offset) and ignores the size.
TEST(UnbindPolicy, ADetachByOffsetTakesTheWholeRangeWhateverTheSize) {
  Faults faults;
  faults.unbind_ignores_size = true;
  Faulty f(faults);
  const HandleInfo team = f.team(0, 4 * kMiB);
  const HandleInfo memory = f.memory(0, 0, kHandlePosixFd, 4 * kMiB);
  ASSERT_EQ(f.bind(team, memory, 0, 0, 4 * kMiB).code, Code::success);
  const auto unbind = [&](std::uint64_t offset) {
    return f.machine.multicast_unbind(f.at(0), team.handle, 0, offset, 2 * kMiB);
  };
  EXPECT_EQ(unbind(2 * kMiB), Code::invalid_value) << "no range begins there: no partial detach";
  EXPECT_EQ(unbind(0), Code::success);
  EXPECT_THAT(*f.machine.replicas(team.object), IsEmpty());
  EXPECT_EQ(unbind(0), Code::invalid_value);
}

// A8.5: a duplicate or surplus attach from another node fails the object for everybody; one of the
// creator's own node fails its caller alone.
TEST(RemoteAttach, ASurplusOneSpoilsTheObject) {
  for (const bool remote : {false, true}) {
    Faulty f({});
    const HandleInfo root = f.object(0, 2 * kMiB, kHandleFabric);
    FabricToken token{};
    ASSERT_EQ(f.machine.export_fabric(f.at(0), root.handle, token), Code::success);
    for (const int gpu : {0, 1}) {
      EXPECT_EQ(f.machine.multicast_add_device(f.at(0), root.handle, gpu, 0), Code::success);
    }
    const int rank = remote ? 2 : 1;
    HandleInfo peer;
    ASSERT_EQ(f.machine.import_fabric(f.at(rank), token, peer), Code::success);
    EXPECT_EQ(f.machine.multicast_add_device(f.at(rank), peer.handle, remote ? 4 : 2, 0),
              Code::invalid_value);
    EXPECT_EQ(f.bind(root, f.memory(0, 0, kHandleFabric)).code,
              remote ? Code::illegal_state : Code::success);
    EXPECT_EQ(f.map(root).code, remote ? Code::illegal_state : Code::success);
  }
}

}  // namespace
}  // namespace symmcts::platform

// Memory, handles, lifetimes and sharing. Each test names the fact it was derived from:
// "measured" is the table of return codes from two H200.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/machine_fixture.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(MachineTest, UnalignedOrEmptyCreateIsInvalid) {
  // measured: "create unaligned INVALID_VALUE"
  HandleInfo info;
  EXPECT_EQ(machine_.create_memory(a_, 0, 2 * kMiB + 4096, 0, info), Code::invalid_value);
  EXPECT_EQ(machine_.create_memory(a_, 0, 0, 0, info), Code::invalid_value);
}

TEST_F(MachineTest, MemoryBelongsToAGpuOfTheCallersHost) {
  HandleInfo info;
  EXPECT_EQ(machine_.create_memory(a_, 8, 2 * kMiB, 0, info), Code::invalid_device);
  EXPECT_EQ(machine_.create_memory(a_, 4, 2 * kMiB, 0, info), Code::invalid_device);
  const ClientId other = *machine_.attach(2, 1);
  EXPECT_EQ(machine_.create_memory(other, 4, 2 * kMiB, 0, info), Code::success);
  EXPECT_EQ(info.gpu, 4);
}

TEST_F(MachineTest, HostMemoryIsNeverShareable) {
  // cuda.h:cuMemCreate
  HandleInfo info;
  EXPECT_EQ(machine_.create_memory(a_, -1, 2 * kMiB, kHandlePosixFd, info), Code::invalid_value);
  EXPECT_EQ(machine_.create_memory(a_, -1, 2 * kMiB, 0, info), Code::success);
}

TEST_F(MachineTest, AGpuRunsOutOfMemoryAndGetsItBack) {
  const HandleInfo most = create(a_, 0, 0, 64 * kMiB);
  HandleInfo info;
  EXPECT_EQ(machine_.create_memory(b_, 0, 2 * kMiB, 0, info), Code::out_of_memory);
  EXPECT_EQ(machine_.create_memory(b_, 1, 2 * kMiB, 0, info), Code::success);
  EXPECT_EQ(machine_.release(a_, most.handle), Code::success);
  EXPECT_EQ(machine_.create_memory(b_, 0, 2 * kMiB, 0, info), Code::success);
}

TEST_F(MachineTest, AMappingKeepsMemoryWhoseHandleWasReleased) {
  // measured: "release of the native handle while a mapping lives SUCCESS, memory stays usable"
  const HandleInfo info = create(a_, 0, 0);
  std::uint64_t mapping = 0;
  ASSERT_EQ(machine_.map(a_, info.handle, 9, mapping).code, Code::success);
  EXPECT_EQ(machine_.release(a_, info.handle), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 2 * kMiB);
  EXPECT_THAT(machine_.take_freed(), IsEmpty());
  EXPECT_EQ(machine_.unmap(a_, mapping), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 0u);
  EXPECT_THAT(machine_.take_freed(), ElementsAre(info.object));
  EXPECT_EQ(machine_.unmap(a_, mapping), Code::invalid_value);
}

TEST_F(MachineTest, AMappedHandleCanBeRetainedAfterItsRelease) {
  // cuda.h:cuMemRetainAllocationHandle: the value that was used to map; one release each
  const HandleInfo info = create(a_, 0, 0);
  std::uint64_t mapping = 0;
  ASSERT_EQ(machine_.map(a_, info.handle, 0, mapping).code, Code::success);
  EXPECT_EQ(machine_.release(a_, info.handle), Code::success);
  EXPECT_EQ(machine_.release(a_, info.handle), Code::invalid_value);
  EXPECT_EQ(machine_.retain(a_, info.handle), Code::success);
  EXPECT_EQ(machine_.unmap(a_, mapping), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 2 * kMiB);
  EXPECT_EQ(machine_.release(a_, info.handle), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 0u);
  EXPECT_EQ(machine_.retain(a_, info.handle), Code::invalid_value);
}

// facts A2.5
TEST_F(MachineTest, HandlesAreTheirOwnersOnly) {
  // cuda.h: the value of a handle means nothing in another process
  const HandleInfo info = create(a_, 0, kHandlePosixFd);
  std::uint64_t id = 0;
  EXPECT_EQ(machine_.release(b_, info.handle), Code::invalid_value);
  EXPECT_EQ(machine_.export_descriptor(b_, info.handle, id), Code::invalid_value);
  EXPECT_TRUE(machine_.map(b_, info.handle, 0, id).code == Code::invalid_value);
}

TEST_F(MachineTest, ExportOfATypeThatWasNotRequestedIsInvalid) {
  // measured: "export of a type not requested INVALID_VALUE", also for a plain allocation
  const HandleInfo posix = create(a_, 0, kHandlePosixFd), plain = create(a_, 0, 0);
  FabricToken token{};
  std::uint64_t id = 0;
  EXPECT_EQ(machine_.export_fabric(a_, posix.handle, token), Code::invalid_value);
  EXPECT_EQ(machine_.export_descriptor(a_, plain.handle, id), Code::invalid_value);
  EXPECT_EQ(machine_.export_descriptor(a_, posix.handle, id), Code::success);
}

TEST_F(MachineTest, ImportsShowNoTypesAndCannotBeExportedAgain) {
  // measured: requestedHandleTypes of an imported handle 0; re-export INVALID_VALUE
  const HandleInfo native = create(a_, 1, kHandlePosixFd | kHandleFabric);
  std::uint64_t id = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, native.handle, id), Code::success);
  HandleInfo self, peer;
  ASSERT_EQ(machine_.import_descriptor(a_, id, self), Code::success);
  ASSERT_EQ(machine_.import_descriptor(b_, id, peer), Code::success);
  // torchcomms#3498: a self-import yields a distinct handle
  EXPECT_NE(self.handle, native.handle);
  EXPECT_TRUE(native.native);
  for (const auto& [client, info] : {std::pair(a_, self), std::pair(b_, peer)}) {
    EXPECT_FALSE(info.native);
    EXPECT_EQ(info.handle_types, 0u);
    EXPECT_EQ(info.object, native.object);
    EXPECT_EQ(info.gpu, 1);
    std::uint64_t again = 0;
    FabricToken token{};
    EXPECT_EQ(machine_.export_descriptor(client, info.handle, again), Code::invalid_value);
    EXPECT_EQ(machine_.export_fabric(client, info.handle, token), Code::invalid_value);
  }
}

// facts A4.2, A16.2
TEST_F(MachineTest, ADescriptorKeepsItsObjectImportable) {
  // measured: "import of a still open fd after the native release SUCCESS"
  const HandleInfo native = create(a_, 0, kHandlePosixFd);
  std::uint64_t id = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, native.handle, id), Code::success);
  EXPECT_EQ(machine_.release(a_, native.handle), Code::success);
  HandleInfo imported;
  ASSERT_EQ(machine_.import_descriptor(b_, id, imported), Code::success);
  machine_.close_descriptor(id);
  // rocm-systems#8440: closing after import harms nothing
  EXPECT_EQ(machine_.memory_used(0), 2 * kMiB);
  HandleInfo late;
  EXPECT_EQ(machine_.import_descriptor(b_, id, late), Code::unknown);
  EXPECT_EQ(machine_.release(b_, imported.handle), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 0u);
}

TEST_F(MachineTest, EachExportIsADescriptorOfItsOwn) {
  // rocm-systems#8440: N exports are independent
  const HandleInfo native = create(a_, 0, kHandlePosixFd);
  std::uint64_t first = 0, second = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, native.handle, first), Code::success);
  machine_.close_descriptor(first);
  ASSERT_EQ(machine_.export_descriptor(a_, native.handle, second), Code::success);
  HandleInfo imported;
  EXPECT_EQ(machine_.import_descriptor(b_, second, imported), Code::success);
}

// facts A16.3
TEST_F(MachineTest, DescriptorsStayOnTheirHostTokensCross) {
  // facts B/A4: POSIX reaches one node, FABRIC the NVLink domain
  const HandleInfo native = create(a_, 0, kHandlePosixFd | kHandleFabric);
  const ClientId far = *machine_.attach(7, 1);
  std::uint64_t id = 0;
  ASSERT_EQ(machine_.export_descriptor(a_, native.handle, id), Code::success);
  HandleInfo info;
  EXPECT_EQ(machine_.import_descriptor(far, id, info), Code::unknown);
  EXPECT_EQ(machine_.import_fabric(far, token_of(a_, native), info), Code::success);
}

TEST_F(MachineTest, GarbageTokensAreInvalid) {
  FabricToken garbage{};
  HandleInfo info;
  EXPECT_EQ(machine_.import_fabric(a_, garbage, info), Code::invalid_value);
  garbage = token_of(a_, create(a_, 0, kHandleFabric));
  garbage[63] ^= 1;
  EXPECT_EQ(machine_.import_fabric(a_, garbage, info), Code::invalid_value);
}

TEST_F(MachineTest, ATokenHoldsNoReference) {
  // facts A4.3: 64 bytes cannot be closed. What a late import of memory gets is inferred.
  const HandleInfo native = create(a_, 0, kHandleFabric);
  const FabricToken token = token_of(a_, native);
  EXPECT_EQ(machine_.release(a_, native.handle), Code::success);
  EXPECT_EQ(machine_.memory_used(0), 0u);
  HandleInfo info;
  EXPECT_EQ(machine_.import_fabric(b_, token, info), Code::invalid_value);
}

TEST_F(MachineTest, TheDeadGiveBackEverything) {
  const HandleInfo kept = create(a_, 0, kHandleFabric), lost = create(a_, 1, 0);
  const FabricToken token = token_of(a_, kept);
  const HandleInfo import_b = import(b_, token);
  std::uint64_t mapping = 0;
  ASSERT_EQ(machine_.map(a_, lost.handle, 0, mapping).code, Code::success);
  machine_.detach(a_);
  EXPECT_EQ(machine_.memory_used(1), 0u);
  EXPECT_EQ(machine_.memory_used(0), 2 * kMiB) << "the importer still holds it";
  EXPECT_EQ(machine_.release(b_, import_b.handle), Code::success);
  EXPECT_EQ(machine_.objects(), 0u);
}

TEST_F(MachineTest, IdsDependOnTheRankNotOnWhoCameFirst) {
  Machine one(open_profile(), 1), other(open_profile(), 1);
  HandleInfo one_0, one_1, other_0, other_1;
  const ClientId first_0 = *one.attach(0, 0), first_1 = *one.attach(1, 0);
  one.create_memory(first_0, 0, 2 * kMiB, kHandleFabric, one_0);
  one.create_memory(first_1, 1, 2 * kMiB, kHandleFabric, one_1);
  const ClientId second_1 = *other.attach(1, 0), second_0 = *other.attach(0, 0);
  other.create_memory(second_1, 1, 2 * kMiB, kHandleFabric, other_1);
  other.create_memory(second_0, 0, 2 * kMiB, kHandleFabric, other_0);
  EXPECT_EQ(one_0.handle, other_0.handle);
  EXPECT_EQ(one_1.object, other_1.object);
  FabricToken token, same, different;
  ASSERT_EQ(one.export_fabric(first_1, one_1.handle, token), Code::success);
  ASSERT_EQ(other.export_fabric(second_1, other_1.handle, same), Code::success);
  ASSERT_EQ(one.export_fabric(first_0, one_0.handle, different), Code::success);
  EXPECT_EQ(token, same);
  EXPECT_NE(token, different);
}

TEST_F(MachineTest, UnnumberedClientsAreNumberedAndRanksMayReturn) {
  EXPECT_EQ(rank_of(*machine_.attach(-1, 0)), 2);
  const ClientId again = *machine_.attach(0, 0);
  EXPECT_EQ(rank_of(again), 0);
  EXPECT_NE(again, a_);
  EXPECT_FALSE(machine_.attach(0, 2)) << "the machine has two hosts";
  EXPECT_FALSE(machine_.attach(0, -1));
}

// A machine like the measured pair of H200: FABRIC is announced, but there is no IMEX channel.
class NoChannelTest : public MachineTest {
 protected:
  static Profile profile() {
    Profile profile = open_profile();
    profile.imex_channel.value = false;
    return profile;
  }
  NoChannelTest() : MachineTest(profile()) {}
};

TEST_F(NoChannelTest, FabricIsNotPermitted) {
  // measured: "cuMemCreate with FABRIC although the attribute says 1: NOT_PERMITTED";
  // torchcomms: the same for cuMulticastCreate
  HandleInfo info;
  EXPECT_EQ(machine_.create_memory(a_, 0, 2 * kMiB, kHandleFabric, info), Code::not_permitted);
  EXPECT_EQ(machine_.create_memory(a_, 0, 2 * kMiB, kHandleFabric | kHandlePosixFd, info),
            Code::not_permitted);
  EXPECT_EQ(machine_.multicast_create(a_, 2, 2 * kMiB, kHandleFabric, info), Code::not_permitted);
  // "import of a garbage token" (oracles/h200-x2).
  EXPECT_EQ(machine_.import_fabric(a_, FabricToken{}, info), Code::not_supported);
  EXPECT_EQ(machine_.create_memory(a_, 0, 2 * kMiB, kHandlePosixFd, info), Code::success);
  EXPECT_EQ(machine_.multicast_create(a_, 2, 2 * kMiB, kHandlePosixFd, info), Code::success);
}

TEST(Machine, RoutesThatTheProfileLacksAreNotSupported) {
  Profile profile = open_profile();
  profile.fabric.value = profile.posix_fd.value = profile.multicast.value = false;
  Machine machine(profile, 1);
  const ClientId client = *machine.attach(0, 0);
  HandleInfo info;
  EXPECT_EQ(machine.create_memory(client, 0, 2 * kMiB, kHandleFabric, info), Code::not_supported);
  EXPECT_EQ(machine.create_memory(client, 0, 2 * kMiB, kHandlePosixFd, info), Code::not_supported);
  EXPECT_EQ(machine.create_memory(client, 0, 2 * kMiB, 2, info), Code::invalid_value);
  EXPECT_EQ(machine.multicast_create(client, 2, 2 * kMiB, 0, info), Code::not_supported);
}

}  // namespace
}  // namespace symmcts::platform

// Handles, mappings, access and what addresses mean, on the local machine.
#include "harness/platform/process/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>

#include "harness/platform/process/memory_fixture.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;

class MemoryTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_THAT(machine_.violations, ElementsAre()); }

  LocalMachine machine_{memory_profile(), 1};
  LocalProcess p_{machine_, {0, 1}};
  Memory& m_ = *p_.memory;
};

TEST_F(MemoryTest, HandleNumbersDependOnTheCallsAlone) {
  const AppHandle a = p_.create(0, 2 * kMiB), b = p_.create(0, 2 * kMiB);
  LocalProcess other(machine_, {1});
  EXPECT_EQ(other.create(0, 2 * kMiB), a);
  EXPECT_EQ(m_.release(a), Code::success);
  const AppHandle c = p_.create(0, 2 * kMiB);
  EXPECT_EQ((std::set<AppHandle>{a, b, c}.size()), 3u) << "a number never comes back";
}

// A real driver crashes on these; the platform says which call it was (hardware/README.md).
TEST_F(MemoryTest, GarbageAndTwiceReleasedHandlesAreNamed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(m_.release(0xdead), Code::invalid_value);
  const AppHandle h = p_.create(0, 2 * kMiB);
  EXPECT_EQ(m_.release(h), Code::success);
  EXPECT_EQ(m_.release(h), Code::invalid_value);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, ::testing::HasSubstr("garbage instead of a physical handle in cuMemRelease"));
  EXPECT_THAT(said, ::testing::HasSubstr("cuMemRelease: this process holds no handle 0xdead"));
  EXPECT_THAT(said, ::testing::HasSubstr("double release of a physical handle"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2);
}

TEST_F(MemoryTest, CreateChecksDeviceAndSize) {
  AppHandle h = 0;
  EXPECT_EQ(m_.create(2, 2 * kMiB, 0, h), Code::invalid_device);
  EXPECT_EQ(m_.create(-1, 2 * kMiB, 0, h), Code::invalid_device);
  EXPECT_EQ(m_.create(0, 0, 0, h), Code::invalid_value);
  EXPECT_EQ(m_.create(0, 2 * kMiB + 4096, 0, h), Code::invalid_value);
}

// A5.1: each retain adds one reference that needs one release.
TEST_F(MemoryTest, RetainCountsReferences) {
  const AppHandle h = p_.create(0, 2 * kMiB);
  const auto address = p_.mapped(h, 2 * kMiB, 1);
  AppHandle again = 0;
  EXPECT_EQ(m_.retain(address + kMiB, again), Code::success);
  EXPECT_EQ(again, h);
  EXPECT_EQ(m_.release(h), Code::success);
  HandleInfo info;
  EXPECT_EQ(m_.info(h, info), Code::success) << "one reference is left";
  EXPECT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
  EXPECT_EQ(machine_.model.objects(), 1u);
  EXPECT_EQ(m_.release(h), Code::success);
  EXPECT_EQ(machine_.model.objects(), 0u);
}

// A5.1 again: also when the application has let go of the handle and only the mapping lives.
TEST_F(MemoryTest, RetainBringsAReleasedHandleBack) {
  const AppHandle h = p_.create(0, 2 * kMiB);
  const auto address = p_.mapped(h, 2 * kMiB, 1);
  EXPECT_EQ(m_.release(h), Code::success);
  AppHandle again = 0;
  EXPECT_EQ(m_.retain(address, again), Code::success);
  EXPECT_EQ(again, h);
  EXPECT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
  EXPECT_EQ(machine_.model.objects(), 1u);
  EXPECT_EQ(m_.release(h), Code::success);
  EXPECT_EQ(machine_.model.objects(), 0u);
  EXPECT_EQ(m_.retain(address, again), Code::invalid_value) << "not mapped any more";
}

// Measured (provenance-and-overlap): 1 native shareable, 0 imported, 0 plain; the owner's ordinal.
TEST_F(MemoryTest, ProvenanceShowsThroughTheMapping) {
  const AppHandle native = p_.create(1, 2 * kMiB), plain = p_.create(1, 2 * kMiB, 0);
  const AppHandle imported = p_.import_of(native);
  EXPECT_NE(imported, native);
  const auto a = m_.resolve(p_.mapped(native, 2 * kMiB, 2));
  const auto b = m_.resolve(p_.mapped(imported, 2 * kMiB, 2));
  const auto c = m_.resolve(p_.mapped(plain, 2 * kMiB, 2));
  EXPECT_EQ(a.allowed_handle_types, kHandlePosixFd);
  EXPECT_EQ(b.allowed_handle_types, 0u);
  EXPECT_EQ(c.allowed_handle_types, 0u);
  EXPECT_TRUE(a.native && c.native && !b.native);
  EXPECT_EQ(a.ordinal, 1);
  EXPECT_EQ(b.ordinal, 1);
  EXPECT_EQ(a.block_id, b.block_id) << "one physical allocation";
  EXPECT_NE(a.block_id, c.block_id);
}

// Measured: the ordinal follows CUDA_VISIBLE_DEVICES of the process that asks.
TEST_F(MemoryTest, OwnersOrdinalIsSeenByTheImporter) {
  const AppHandle native = p_.create(1, 2 * kMiB);
  int fd = -1;
  ASSERT_EQ(m_.export_fd(native, fd), Code::success);
  LocalProcess swapped(machine_, {1, 0}), blind(machine_, {0});
  for (auto [process, ordinal] : {std::pair{&swapped, 0}, std::pair{&blind, -1}}) {
    AppHandle h = 0;
    ASSERT_EQ(process->memory->import_fd(fd, h), Code::success);
    const auto info = process->memory->resolve(process->mapped(h, 2 * kMiB, 1));
    EXPECT_EQ(info.ordinal, ordinal);
    EXPECT_EQ(info.gpu, 1);
  }
  close(fd);
}

TEST_F(MemoryTest, AddressesSayWhatLiesThere) {
  const AppHandle h = p_.create(0, 4 * kMiB);
  const auto range = p_.reserve(8 * kMiB);
  EXPECT_EQ(m_.resolve(range).kind, AddressInfo::Kind::reserved);
  ASSERT_EQ(m_.map(range + 4 * kMiB, 4 * kMiB, 0, h), Code::success);
  const auto info = m_.resolve(range + 5 * kMiB);
  EXPECT_EQ(info.kind, AddressInfo::Kind::memory);
  EXPECT_EQ(info.offset, kMiB);
  EXPECT_EQ(info.mapping_base, range + 4 * kMiB);
  EXPECT_EQ(info.mapping_size, 4 * kMiB);
  EXPECT_EQ(info.range_start, range) << "RANGE is the reservation (A15.1)";
  EXPECT_EQ(info.range_size, 8 * kMiB);
  EXPECT_EQ(info.access, 0u);
  int local = 0;
  EXPECT_EQ(m_.resolve(address_of(&local)).kind, AddressInfo::Kind::host_pageable);
}

// A6.3, A6.11: a mapping starts without access, also after a mapping at the same place had it.
TEST_F(MemoryTest, EachMappingStartsWithoutAccess) {
  const AppHandle h = p_.create(0, 2 * kMiB);
  const auto address = p_.mapped(h, 2 * kMiB, 1);
  std::uint32_t flags = 9;
  EXPECT_EQ(m_.get_access(address, 0, flags), Code::success);
  EXPECT_EQ(flags, 3u);
  EXPECT_EQ(m_.get_access(address, 1, flags), Code::success);
  EXPECT_EQ(flags, 0u);
  EXPECT_TRUE(m_.usable(address, 2 * kMiB, 0));
  EXPECT_FALSE(m_.usable(address, 2 * kMiB, 1));
  ASSERT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
  ASSERT_EQ(m_.map(address, 2 * kMiB, 0, h), Code::success);
  EXPECT_FALSE(m_.usable(address, 2 * kMiB, 0));
}

// A6.8 and cuda.h:cuMemSetAccess.
TEST_F(MemoryTest, SetAccessWantsWholeMappingsAndKnownDevices) {
  const AppHandle a = p_.create(0, 2 * kMiB), b = p_.create(1, 2 * kMiB);
  const auto range = p_.reserve(6 * kMiB);
  ASSERT_EQ(m_.map(range, 2 * kMiB, 0, a), Code::success);
  ASSERT_EQ(m_.map(range + 2 * kMiB, 2 * kMiB, 0, b), Code::success);
  EXPECT_EQ(m_.set_access(range, kMiB, {{0, 3}}), Code::invalid_value);
  EXPECT_EQ(m_.set_access(range, 6 * kMiB, {{0, 3}}), Code::invalid_value) << "not all mapped";
  EXPECT_EQ(m_.set_access(range, 4 * kMiB, {{2, 3}}), Code::invalid_value) << "measured";
  EXPECT_EQ(m_.set_access(range, 4 * kMiB, {{0, 2}}), Code::invalid_value);
  EXPECT_EQ(m_.set_access(range, 4 * kMiB, {}), Code::invalid_value);
  EXPECT_FALSE(m_.usable(range, 4 * kMiB, 0));
  EXPECT_EQ(m_.set_access(range, 4 * kMiB, {{0, 3}}), Code::success);
  EXPECT_TRUE(m_.usable(range, 4 * kMiB, 0)) << "segments in a row are one range (A5.3)";
  EXPECT_FALSE(m_.usable(range, 4 * kMiB + 1, 0));
  EXPECT_EQ(m_.set_access(range, 4 * kMiB, {{0, 1}}), Code::success);
  EXPECT_FALSE(m_.usable(range, 1, 0)) << "read-only";
  EXPECT_TRUE(m_.usable(range, 4 * kMiB, 0, Touch::reads));
  EXPECT_FALSE(m_.usable(range, 1, 1, Touch::reads)) << "granted to device 0 alone";
}

TEST_F(MemoryTest, SeveralWholeMappingsMayBeUnmappedAtOnce) {
  const AppHandle a = p_.create(0, 2 * kMiB);
  const auto range = p_.reserve(4 * kMiB);
  ASSERT_EQ(m_.map(range, 2 * kMiB, 0, a), Code::success);
  ASSERT_EQ(m_.map(range + 2 * kMiB, 2 * kMiB, 0, a), Code::success);
  EXPECT_EQ(m_.unmap(range, 3 * kMiB), Code::invalid_value);
  EXPECT_EQ(m_.unmap(range, 4 * kMiB), Code::success);
  EXPECT_EQ(m_.release(a), Code::success);
  EXPECT_EQ(machine_.model.objects(), 0u) << "both mappings have been given back";
  EXPECT_EQ(m_.free_reservation(range, 4 * kMiB), Code::success);
}

// "unmap before map", "unmap of more", "unmap again": SUCCESS (oracles/h200-x2); a part is not
// (A6.11).
TEST_F(MemoryTest, UnmapTakesWholeMappingsAndPassesOverEmptySpace) {
  const AppHandle a = p_.create(0, 4 * kMiB);
  const auto range = p_.reserve(16 * kMiB);
  EXPECT_EQ(m_.unmap(range, 4 * kMiB), Code::success);
  ASSERT_EQ(m_.map(range, 4 * kMiB, 0, a), Code::success);
  EXPECT_EQ(m_.unmap(range, 2 * kMiB), Code::invalid_value);
  EXPECT_EQ(m_.unmap(range + 2 * kMiB, 8 * kMiB), Code::invalid_value);
  EXPECT_EQ(m_.unmap(range, 8 * kMiB), Code::success);
  EXPECT_EQ(m_.unmap(range, 4 * kMiB), Code::success) << "nothing is left there";
  EXPECT_EQ(m_.free_reservation(range, 16 * kMiB), Code::success);
  EXPECT_EQ(m_.unmap(range, 4 * kMiB), Code::invalid_value) << "not reserved; inferred";
}

// A1.4: a reservation survives unmap and takes another object.
TEST_F(MemoryTest, AReservationCanBeMappedAgain) {
  const AppHandle a = p_.create(0, 2 * kMiB), b = p_.create(1, 2 * kMiB);
  const auto address = p_.mapped(a, 2 * kMiB, 1);
  ASSERT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
  ASSERT_EQ(m_.map(address, 2 * kMiB, 0, b), Code::success);
  EXPECT_EQ(m_.resolve(address).ordinal, 1);
}

TEST_F(MemoryTest, DeviceAllocationsHaveNoHandle) {
  std::uint64_t a = 0, b = 0;
  ASSERT_EQ(m_.alloc_device(0, 100, a), Code::success);
  const auto info = m_.resolve(a);
  EXPECT_EQ(info.range_size, 100u);
  EXPECT_EQ(info.access, 1u);
  EXPECT_TRUE(m_.usable(a, 100, 0));
  EXPECT_FALSE(m_.usable(a, 101, 0));
  AppHandle h = 0;
  EXPECT_EQ(m_.retain(a, h), Code::invalid_value);
  EXPECT_EQ(m_.unmap(a, 2 * kMiB), Code::invalid_value);
  EXPECT_EQ(m_.free_reservation(a, 2 * kMiB), Code::invalid_value);
  EXPECT_EQ(m_.free_device(a + 1), Code::invalid_value);
  std::uint64_t bytes = 0;
  m_.used(0, bytes);
  EXPECT_EQ(bytes, 2 * kMiB);
  EXPECT_EQ(m_.free_device(a), Code::success);
  EXPECT_EQ(m_.free_device(a), Code::invalid_value);
  m_.used(0, bytes);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(machine_.model.objects(), 0u);
  ASSERT_EQ(m_.alloc_device(0, 100, b), Code::success);
  EXPECT_EQ(a, b) << "SM-LIFE-4";
  EXPECT_EQ(m_.alloc_device(0, 0, a), Code::invalid_value);
  EXPECT_EQ(m_.alloc_device(5, 1, a), Code::invalid_device);
}

// The memory of an object counts once, as long as anything of this process keeps it.
TEST_F(MemoryTest, UsedFollowsTheLastKeeper) {
  const AppHandle h = p_.create(1, 4 * kMiB), imported = p_.import_of(h);
  std::uint64_t bytes = 0;
  m_.used(1, bytes);
  EXPECT_EQ(bytes, 4 * kMiB);
  EXPECT_EQ(m_.release(h), Code::success);
  m_.used(1, bytes);
  EXPECT_EQ(bytes, 4 * kMiB);
  EXPECT_EQ(m_.release(imported), Code::success);
  m_.used(1, bytes);
  EXPECT_EQ(bytes, 0u);
}

TEST_F(MemoryTest, PinnedHostMemory) {
  void* host = nullptr;
  ASSERT_EQ(m_.alloc_host(5000, host), Code::success);
  EXPECT_EQ(address_of(host) % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), 0u);
  EXPECT_EQ(static_cast<char*>(host)[4999], 0);
  EXPECT_EQ(m_.resolve(address_of(host) + 4999).kind, AddressInfo::Kind::host_pinned);
  EXPECT_EQ(m_.register_host(host, 10), Code::host_memory_already_registered);
  EXPECT_EQ(m_.unregister_host(host), Code::host_memory_not_registered);
  EXPECT_EQ(m_.free_host(static_cast<char*>(host) + 1), Code::invalid_value);
  EXPECT_EQ(m_.free_host(host), Code::success);
  EXPECT_EQ(m_.free_host(host), Code::invalid_value);
  EXPECT_EQ(m_.alloc_host(0, host), Code::invalid_value);

  std::array<char, 64> own{};
  EXPECT_EQ(m_.register_host(own.data() + 16, 32), Code::success);
  EXPECT_EQ(m_.register_host(own.data(), 17), Code::host_memory_already_registered);
  EXPECT_EQ(m_.register_host(own.data(), 16), Code::success);
  EXPECT_EQ(m_.resolve(address_of(own.data()) + 20).range_size, 32u);
  EXPECT_FALSE(m_.usable(address_of(own.data()) + 16, 33, 0));
  EXPECT_EQ(m_.free_host(own.data()), Code::invalid_value);
  EXPECT_EQ(m_.unregister_host(own.data() + 16), Code::success);
  EXPECT_EQ(m_.resolve(address_of(own.data()) + 20).kind, AddressInfo::Kind::host_pageable);
}

TEST_F(MemoryTest, EachCallTakesHostTimeAndPassesItsGates) {
  const AppHandle h = p_.create(0, 2 * kMiB);
  EXPECT_EQ(p_.clock.now(), 10u);
  EXPECT_THAT(p_.client.gates, ElementsAre("before cuMemCreate", "passed cuMemCreate"));
  p_.client.gates.clear();
  const AppHandle i = p_.import_of(h);
  const auto address = p_.mapped(i, 2 * kMiB, 1);
  EXPECT_EQ(m_.release(h), Code::success);
  EXPECT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
  EXPECT_THAT(
      p_.client.gates,
      ElementsAre("before cuMemExportToShareableHandle", "passed cuMemExportToShareableHandle",
                  "before cuMemImportFromShareableHandle", "passed cuMemImportFromShareableHandle",
                  "before cuMemMap", "passed cuMemMap", "before cuMemRelease",
                  "passed cuMemRelease", "before cuMemUnmap", "passed cuMemUnmap"));
  EXPECT_EQ(p_.clock.now(), 60u);
  EXPECT_EQ(p_.clock.depth(), 0);
}

TEST_F(MemoryTest, ThreadsMayWorkSideBySide) {
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) {
      const AppHandle h = p_.create(0, 2 * kMiB);
      const auto address = p_.mapped(h, 2 * kMiB, 1);
      EXPECT_EQ(m_.fill_bytes(address, 7, 1, 64), Code::success);
      EXPECT_EQ(m_.release(h), Code::success);
      EXPECT_EQ(m_.unmap(address, 2 * kMiB), Code::success);
      EXPECT_EQ(m_.free_reservation(address, 2 * kMiB), Code::success);
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_EQ(machine_.model.objects(), 0u);
}

}  // namespace
}  // namespace symmcts::platform

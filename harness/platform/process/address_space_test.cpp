#include "harness/platform/process/address_space.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGranularity = 2 * kMiB;  // measured, errors-latency-sizes

std::uint64_t reserved(AddressSpace& space, std::uint64_t size, std::uint64_t alignment = 0,
                       std::uint64_t hint = 0) {
  std::uint64_t address = 0;
  EXPECT_EQ(space.reserve(size, alignment, hint, address), Code::success);
  return address;
}

TEST(AddressSpace, HandsOutAddressesInCallOrderFromTheFixedBase) {
  AddressSpace space(kGranularity);
  EXPECT_EQ(reserved(space, 64 * kMiB), kDeviceBase);
  EXPECT_EQ(reserved(space, kGranularity), kDeviceBase + 64 * kMiB);
  EXPECT_EQ(reserved(space, kGranularity), kDeviceBase + 66 * kMiB);
}

TEST(AddressSpace, TwoProcessesWithTheSameCallsGetTheSameAddresses) {
  std::uint64_t first = 0;
  {
    AddressSpace space(kGranularity);
    reserved(space, 4 * kMiB);
    first = reserved(space, 8 * kMiB);
  }
  AddressSpace space(kGranularity);
  reserved(space, 4 * kMiB);
  EXPECT_EQ(reserved(space, 8 * kMiB), first);
}

// SM-LIFE-4: freeing and allocating again may give the same address.
TEST(AddressSpace, TheLowestFreeRangeIsUsedAgain) {
  AddressSpace space(kGranularity);
  const auto a = reserved(space, 8 * kMiB);
  const auto b = reserved(space, 8 * kMiB);
  const auto c = reserved(space, 8 * kMiB);
  EXPECT_EQ(space.release(a, 8 * kMiB), Code::success);
  EXPECT_EQ(reserved(space, 8 * kMiB), a);
  EXPECT_EQ(space.release(b, 8 * kMiB), Code::success);
  EXPECT_EQ(reserved(space, 16 * kMiB), c + 8 * kMiB) << "the hole is too small";
  EXPECT_EQ(reserved(space, 4 * kMiB), b);
  EXPECT_EQ(reserved(space, 4 * kMiB), b + 4 * kMiB);
}

// A1.1: hint is a multiple of the host's page, alignment is 0 or a power of two. A size must be one
// of the granularity: "reserve of 4 KiB: INVALID_VALUE" (oracles/h200-x2).
TEST(AddressSpace, RefusesWhatWasMeasuredAndDocumented) {
  AddressSpace space(kGranularity);
  std::uint64_t address = 0;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(space.reserve(0, 0, 0, address), Code::invalid_value);
  EXPECT_EQ(space.reserve(page, 0, 0, address), Code::invalid_value);
  EXPECT_EQ(space.reserve(kGranularity, 3 * kMiB, 0, address), Code::invalid_value);
  EXPECT_EQ(space.reserve(kGranularity, 0, kDeviceBase + 1, address), Code::invalid_value);
  EXPECT_EQ(space.reserve(kDeviceEnd, 0, 0, address), Code::out_of_memory);
  EXPECT_EQ(space.reserve(kGranularity, 0, 0, address), Code::success);
}

// facts A1.3
TEST(AddressSpace, AlignsAsAskedAndNeverBelowTheGranularity) {
  AddressSpace space(kGranularity);
  reserved(space, kGranularity);
  EXPECT_EQ(reserved(space, kGranularity) % kGranularity, 0u);
  EXPECT_EQ(reserved(space, kGranularity, 512 * kMiB) % (512 * kMiB), 0u);
}

TEST(AddressSpace, AHintIsOnlyAHint) {
  AddressSpace space(kGranularity);
  const std::uint64_t wish = kDeviceBase + 256 * kMiB;
  EXPECT_EQ(reserved(space, kGranularity, 0, wish), wish);
  EXPECT_EQ(reserved(space, kGranularity, 0, wish), kDeviceBase) << "taken";
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(reserved(space, kGranularity, 0, 16 * page), kDeviceBase + kGranularity)
      << "not a device address";
}

// A1.2: pointer and size are those of the reservation.
TEST(AddressSpace, FreesWholeReservationsOnly) {
  AddressSpace space(kGranularity);
  const auto a = reserved(space, 8 * kMiB);
  EXPECT_EQ(space.release(a, 4 * kMiB), Code::invalid_value);
  EXPECT_EQ(space.release(a + 4 * kMiB, 4 * kMiB), Code::invalid_value);
  EXPECT_EQ(space.release(a, 8 * kMiB), Code::success);
  EXPECT_EQ(space.release(a, 8 * kMiB), Code::invalid_value);
}

TEST(AddressSpace, KnowsWhatARangeLiesIn) {
  AddressSpace space(kGranularity);
  const auto a = reserved(space, 8 * kMiB);
  const auto b = reserved(space, 8 * kMiB);
  EXPECT_TRUE(space.holds(a, 8 * kMiB));
  EXPECT_TRUE(space.holds(a + kMiB, 7 * kMiB));
  EXPECT_FALSE(space.holds(a, 9 * kMiB)) << "two reservations are not one";
  EXPECT_TRUE(space.covers(a + kMiB, 15 * kMiB));
  EXPECT_FALSE(space.covers(a, 17 * kMiB));
  EXPECT_EQ(space.find(b + 1)->start, b);
  EXPECT_FALSE(space.find(b + 8 * kMiB));
}

TEST(AddressSpace, PassesOverWhatTheHostHasPutInTheWay) {
  void* const wish = reinterpret_cast<void*>(static_cast<std::uintptr_t>(kDeviceBase));
  void* const host =
      mmap(wish, kGranularity, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(host, wish);
  {
    AddressSpace space(kGranularity);
    const auto a = reserved(space, kGranularity);
    EXPECT_GT(a, kDeviceBase);
    EXPECT_FALSE(space.dangling(kDeviceBase)) << "that is host memory";
    EXPECT_EQ(space.release(a, kGranularity), Code::success);
    EXPECT_TRUE(space.dangling(a));
  }
  munmap(host, kGranularity);
}

TEST(AddressSpaceDeathTest, AHostDereferenceFaults) {
  AddressSpace space(kGranularity);
  const auto a = reserved(space, kGranularity);
  EXPECT_DEATH(
      {
        const volatile char* const device =
            reinterpret_cast<const char*>(static_cast<std::uintptr_t>(a));
        (void)device[0];
      },
      "");
}

}  // namespace
}  // namespace symmcts::platform

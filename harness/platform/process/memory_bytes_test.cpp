// Where bytes go: copies, fills and words, through memory and multicast mappings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <numeric>
#include <string>
#include <vector>

#include "harness/platform/process/memory_fixture.hpp"

namespace symmcts::platform {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::uint64_t kSize = 8 * kMiB;

// Two processes of two GPUs; the first creates a multicast object, both bind and map it. The first
// keeps its native handle, the second imports.
class MemoryBytesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(a_.memory->multicast_create(2, kSize, kHandlePosixFd, mc_a_), Code::success);
    int fd = -1;
    ASSERT_EQ(a_.memory->export_fd(mc_a_, fd), Code::success);
    ASSERT_EQ(b_.memory->import_fd(fd, mc_b_), Code::success);
    close(fd);
    own_a_ = a_.create(0, kSize);
    own_b_ = b_.create(1, kSize);
    at_a_ = a_.mapped(own_a_, kSize, 2);
    at_b_ = b_.mapped(own_b_, kSize, 2);
  }
  void TearDown() override { EXPECT_THAT(machine_.violations, ElementsAre()); }

  void join() {
    ASSERT_EQ(a_.memory->multicast_add_device(mc_a_, 0), Code::success);
    ASSERT_EQ(b_.memory->multicast_add_device(mc_b_, 1), Code::success);
  }
  void bind() {
    ASSERT_EQ(a_.memory->multicast_bind_mem(mc_a_, 0, own_a_, 0, kSize), Code::success);
    ASSERT_EQ(b_.memory->multicast_bind_address(mc_b_, 0, at_b_, kSize), Code::success);
  }
  void map() {
    on_mc_a_ = a_.mapped(mc_a_, kSize, 2);
    on_mc_b_ = b_.mapped(mc_b_, kSize, 2);
  }

  static std::vector<unsigned char> read(LocalProcess& p, std::uint64_t at, std::uint64_t size) {
    std::vector<unsigned char> out(size, 0xee);
    EXPECT_EQ(p.memory->copy_bytes(address_of(out.data()), at, size), Code::success);
    return out;
  }

  LocalMachine machine_{memory_profile(), 1};
  LocalProcess a_{machine_, {0, 1}}, b_{machine_, {0, 1}};
  AppHandle mc_a_ = 0, mc_b_ = 0, own_a_ = 0, own_b_ = 0;
  std::uint64_t at_a_ = 0, at_b_ = 0, on_mc_a_ = 0, on_mc_b_ = 0;
};

TEST_F(MemoryBytesTest, CopiesBetweenHostAndDevice) {
  std::vector<unsigned char> data(100'000);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(1));
  ASSERT_EQ(a_.memory->copy_bytes(at_a_ + 123, address_of(data.data()), data.size()),
            Code::success);
  EXPECT_EQ(read(a_, at_a_ + 123, data.size()), data);
  EXPECT_THAT(read(a_, at_a_, 123), Each(0));
}

// Every mapping of an allocation shows the same bytes, in whatever process.
TEST_F(MemoryBytesTest, AliasesShareTheirBytes) {
  const AppHandle imported = a_.import_of(own_a_);
  const auto alias = a_.mapped(imported, kSize, 1);
  ASSERT_EQ(a_.memory->fill_bytes(alias, 0x5a, 1, 32), Code::success);
  EXPECT_THAT(read(a_, at_a_, 32), Each(0x5a));
  // Overlap between two aliases behaves like memmove, because both are one view.
  ASSERT_EQ(a_.memory->copy_bytes(at_a_ + 16, alias, 32), Code::success);
  EXPECT_THAT(read(a_, alias, 48), Each(0x5a));
}

TEST_F(MemoryBytesTest, FillsPatternsOfEachWidth) {
  ASSERT_EQ(a_.memory->fill_bytes(at_a_, 0x04030201, 4, 1001), Code::success);
  const auto words = read(a_, at_a_, 4 * 1001 + 1);
  for (std::size_t i = 0; i < 4 * 1001; ++i) ASSERT_EQ(words[i], 1 + i % 4);
  EXPECT_EQ(words.back(), 0);
  ASSERT_EQ(a_.memory->fill_bytes(at_a_ + 2, 0xbbaa, 2, 3), Code::success);
  EXPECT_THAT(read(a_, at_a_, 9), ElementsAre(1, 2, 0xaa, 0xbb, 0xaa, 0xbb, 0xaa, 0xbb, 1));
  EXPECT_EQ(a_.memory->fill_bytes(at_a_ + 2, 0, 4, 1), Code::invalid_value);
  EXPECT_EQ(a_.memory->fill_bytes(at_a_, 0, 3, 1), Code::invalid_value);
}

TEST_F(MemoryBytesTest, SegmentsInARowAreOneRange) {
  const AppHandle one = a_.create(0, 2 * kMiB), two = a_.create(1, 2 * kMiB);
  const auto range = a_.reserve(4 * kMiB);
  ASSERT_EQ(a_.memory->map(range, 2 * kMiB, 0, one), Code::success);
  ASSERT_EQ(a_.memory->map(range + 2 * kMiB, 2 * kMiB, 0, two), Code::success);
  std::vector<unsigned char> data(64);
  std::iota(data.begin(), data.end(), static_cast<unsigned char>(1));
  ASSERT_EQ(a_.memory->copy_bytes(range + 2 * kMiB - 20, address_of(data.data()), 64),
            Code::success);
  ASSERT_EQ(a_.memory->copy_bytes(at_a_, range + 2 * kMiB - 20, 64), Code::success);
  EXPECT_EQ(read(a_, at_a_, 64), data);
}

TEST_F(MemoryBytesTest, NothingIsWrittenThroughABadRange) {
  char byte = 1;
  EXPECT_EQ(a_.memory->copy_bytes(at_a_ + kSize - 4, at_a_, 8), Code::illegal_address);
  const auto reserved = a_.reserve(kSize);
  EXPECT_EQ(a_.memory->copy_bytes(reserved, address_of(&byte), 1), Code::illegal_address);
  EXPECT_EQ(a_.memory->copy_bytes(at_a_, 0, 1), Code::illegal_address);
  ASSERT_EQ(a_.memory->unmap(at_a_, kSize), Code::success);
  EXPECT_EQ(a_.memory->copy_bytes(at_a_, address_of(&byte), 1), Code::illegal_address);
  ASSERT_EQ(a_.memory->free_reservation(at_a_, kSize), Code::success);
  EXPECT_EQ(a_.memory->copy_bytes(at_a_, address_of(&byte), 1), Code::illegal_address)
      << "a device address stays one after its reservation is gone";
  EXPECT_FALSE(a_.memory->usable(at_a_, 1, 0));
}

// A12.2: one write reaches every bound replica, whoever's.
// facts A12.1, A12.13
TEST_F(MemoryBytesTest, AMulticastWriteReachesEveryReplica) {
  join();
  bind();
  map();
  ASSERT_EQ(a_.memory->fill_bytes(at_a_ + kMiB, 0x11, 1, 64), Code::success);
  ASSERT_EQ(b_.memory->copy_bytes(on_mc_b_ + 100, at_b_, 0), Code::success);
  ASSERT_EQ(a_.memory->copy_bytes(on_mc_a_ + 100, at_a_ + kMiB, 64), Code::success);
  EXPECT_THAT(read(a_, at_a_ + 100, 64), Each(0x11));
  EXPECT_THAT(read(b_, at_b_ + 100, 64), Each(0x11));
  EXPECT_THAT(read(b_, at_b_, 100), Each(0));
  ASSERT_EQ(b_.memory->fill_bytes(on_mc_b_, 0x22222222, 4, 4), Code::success);
  EXPECT_THAT(read(a_, at_a_, 16), Each(0x22));
}

// A12.14, A13.7: what nobody is bound to is lost, without a sign.
// facts A10.9, A17.6
TEST_F(MemoryBytesTest, AWriteReachesOnlyWhatIsBoundAtThatMoment) {
  join();
  map();
  ASSERT_EQ(a_.memory->fill_bytes(on_mc_a_, 1, 1, 16), Code::success);
  ASSERT_EQ(a_.memory->multicast_bind_mem(mc_a_, 4 * kMiB, own_a_, 0, 4 * kMiB), Code::success);
  ASSERT_EQ(a_.memory->fill_bytes(on_mc_a_ + 4 * kMiB - 8, 2, 1, 16), Code::success);
  EXPECT_THAT(read(a_, at_a_, 8), Each(2)) << "bound at 4 MiB: the second half of the write";
  EXPECT_THAT(read(b_, at_b_, 16), Each(0)) << "the late binder missed both";
  ASSERT_EQ(b_.memory->multicast_bind_mem(mc_b_, 4 * kMiB, own_b_, 4 * kMiB, 4 * kMiB),
            Code::success);
  ASSERT_EQ(a_.memory->fill_bytes(on_mc_a_ + 4 * kMiB, 3, 1, 16), Code::success);
  EXPECT_THAT(read(b_, at_b_ + 4 * kMiB, 16), Each(3));
  ASSERT_EQ(a_.memory->multicast_unbind(mc_a_, 0, 4 * kMiB, 4 * kMiB), Code::success);
  ASSERT_EQ(b_.memory->fill_bytes(on_mc_b_ + 4 * kMiB, 4, 1, 16), Code::success);
  EXPECT_THAT(read(a_, at_a_, 16), Each(3)) << "unbound";
  EXPECT_THAT(read(b_, at_b_ + 4 * kMiB, 16), Each(4));
}

// A12.12, A13.2: a read of a multicast address is undefined; the platform refuses it.
TEST_F(MemoryBytesTest, AMulticastSourceIsRefused) {
  join();
  bind();
  map();
  EXPECT_EQ(a_.memory->copy_bytes(at_a_, on_mc_a_, 4), Code::illegal_address);
}

// A15.3 (reported, torchcomms#3498): the aperture says 0 for native and imported alike; which it is
// shows in the provenance alone.
TEST_F(MemoryBytesTest, WhatAMulticastAddressShows) {
  join();
  map();
  const auto native = a_.memory->resolve(on_mc_a_ + 64), imported = b_.memory->resolve(on_mc_b_);
  EXPECT_EQ(native.kind, AddressInfo::Kind::multicast);
  EXPECT_EQ(native.offset, 64u);
  EXPECT_EQ(native.ordinal, 0);
  EXPECT_EQ(imported.ordinal, 0);
  EXPECT_EQ(native.gpu, -1);
  EXPECT_TRUE(native.native);
  EXPECT_FALSE(imported.native);
  EXPECT_EQ(native.allowed_handle_types, kHandlePosixFd);
  EXPECT_EQ(imported.allowed_handle_types, 0u);
  EXPECT_EQ(native.object, imported.object);
}

// A3.2, A6.1, A6.5.
TEST_F(MemoryBytesTest, MulticastMapRules) {
  join();
  const auto range = a_.reserve(2 * kSize);  // aligned to 2 MiB at least; multicast wants 4
  const auto aligned = (range + 4 * kMiB - 1) / (4 * kMiB) * (4 * kMiB);
  EXPECT_EQ(a_.memory->map(aligned + 2 * kMiB, 4 * kMiB, 0, mc_a_), Code::invalid_value);
  EXPECT_EQ(a_.memory->map(aligned, 6 * kMiB, 0, mc_a_), Code::invalid_value);
  EXPECT_EQ(a_.memory->map(aligned, 2 * kSize, 0, mc_a_), Code::invalid_value);
  EXPECT_EQ(a_.memory->map(aligned, 4 * kMiB, 4 * kMiB, mc_a_), Code::not_supported);
  EXPECT_EQ(a_.memory->map(aligned, 4 * kMiB, 0, mc_a_), Code::success) << "a prefix";
  EXPECT_EQ(a_.memory->map(aligned, kSize, 0, mc_a_), Code::invalid_value) << "mapped already";
}

// A2.6: memory of one granule of cuMemCreate (2 MiB) is none of multicast (4 MiB).
TEST_F(MemoryBytesTest, MulticastCallsCheckWhatTheyAreGiven) {
  EXPECT_EQ(a_.memory->multicast_add_device(own_a_, 0), Code::invalid_value);
  EXPECT_EQ(a_.memory->multicast_add_device(mc_a_, 2), Code::invalid_device);
  join();
  EXPECT_EQ(a_.memory->multicast_bind_mem(own_a_, 0, own_a_, 0, kSize), Code::invalid_value);
  EXPECT_EQ(a_.memory->multicast_bind_mem(mc_a_, 0, mc_a_, 0, kSize), Code::invalid_value);
  EXPECT_EQ(a_.memory->multicast_bind_address(mc_a_, 0, at_a_ + kMiB, kSize), Code::invalid_value);
  const AppHandle small = a_.create(0, 2 * kMiB);
  for (const std::uint64_t size : {2 * kMiB, 4 * kMiB}) {
    EXPECT_EQ(a_.memory->multicast_bind_mem(mc_a_, 0, small, 0, size), Code::invalid_value);
  }
  std::uint64_t plain = 0;
  ASSERT_EQ(a_.memory->alloc_device(0, kSize, plain), Code::success);
  EXPECT_EQ(a_.memory->multicast_bind_address(mc_a_, 0, plain, kSize), Code::invalid_value)
      << "memory of cuMemAlloc (A9.4, NCCL#1584)";
}

// A6.4, A9.5: bind and map wait for the last device, and no lock of the process is held meanwhile.
TEST_F(MemoryBytesTest, OtherCallsGoOnWhileBindAndMapWait) {
  ASSERT_EQ(a_.memory->multicast_add_device(mc_a_, 0), Code::success);
  const auto range = a_.reserve(kSize);
  auto bound = std::async(std::launch::async, [&] {
    return a_.memory->multicast_bind_mem(mc_a_, 0, own_a_, 0, kSize);
  });
  auto mapped =
      std::async(std::launch::async, [&] { return a_.memory->map(range, kSize, 0, mc_a_); });
  while (a_.clock.depth() != 2) std::this_thread::yield();
  EXPECT_EQ(a_.memory->fill_bytes(at_a_, 9, 1, 4), Code::success);
  EXPECT_EQ(a_.memory->resolve(range).kind, AddressInfo::Kind::reserved);
  EXPECT_EQ(a_.memory->free_reservation(range, kSize), Code::invalid_value);
  ASSERT_EQ(b_.memory->multicast_add_device(mc_b_, 1), Code::success);
  EXPECT_EQ(bound.get(), Code::success);
  EXPECT_EQ(mapped.get(), Code::success);
  EXPECT_EQ(a_.clock.depth(), 0);
  EXPECT_EQ(a_.memory->resolve(range).kind, AddressInfo::Kind::multicast);
}

TEST_F(MemoryBytesTest, WordsAreStoredWholeAndLogged) {
  ASSERT_EQ(a_.memory->write_word(at_a_ + 8, 0x1'0000'0007, 4, 55), Code::success);
  ASSERT_EQ(a_.memory->write_word(at_a_ + 16, 0x0807060504030201, 8, 56), Code::success);
  EXPECT_THAT(read(a_, at_a_ + 8, 8), ElementsAre(7, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(read(a_, at_a_ + 16, 8), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  ASSERT_EQ(a_.client.words.size(), 2u);
  EXPECT_EQ(a_.client.words[0].offset, 8u);
  EXPECT_EQ(a_.client.words[0].value, 7u);
  EXPECT_EQ(a_.client.words[0].at, 55u);
  EXPECT_EQ(a_.client.words[1].width, 8);
  EXPECT_THAT(a_.client.touched, ElementsAre(0, 0, 0)) << "opened before the store";
  EXPECT_EQ(a_.memory->write_word(at_a_ + 2, 1, 4, 0), Code::invalid_value);
  EXPECT_EQ(a_.memory->write_word(at_a_ + 4, 1, 8, 0), Code::invalid_value);
}

TEST_F(MemoryBytesTest, AMulticastWordIsLoggedForEachReplica) {
  join();
  bind();
  map();
  ASSERT_EQ(a_.memory->write_word(on_mc_a_ + 64, 3, 4, 70), Code::success);
  ASSERT_EQ(a_.client.words.size(), 2u);
  EXPECT_EQ(a_.client.words[0].allocation, a_.memory->resolve(at_a_).object);
  EXPECT_EQ(a_.client.words[1].allocation, b_.memory->resolve(at_b_).object);
  for (const LoggedWord& word : a_.client.words) EXPECT_EQ(word.offset, 64u);
  EXPECT_THAT(read(b_, at_b_ + 64, 1), ElementsAre(3));
}

// NCCL's copy-engine signal is a 4-byte copy (A14.4): its words count like those of a stream write.
TEST_F(MemoryBytesTest, ShortCopiesLogTheWordsTheyTouch) {
  ASSERT_EQ(a_.memory->fill_bytes(at_a_, 0x01, 1, 32), Code::success);
  a_.memory->log_words(at_a_ + 6, 4, 80);
  ASSERT_EQ(a_.client.words.size(), 2u);
  EXPECT_EQ(a_.client.words[0].offset, 4u);
  EXPECT_EQ(a_.client.words[1].offset, 8u);
  EXPECT_EQ(a_.client.words[1].value, 0x01010101u);
  a_.client.words.clear();
  a_.memory->log_words(at_a_, 16, 81);
  EXPECT_EQ(a_.client.words.size(), 4u);
  a_.client.words.clear();
  a_.memory->log_words(at_a_, 17, 82);
  std::uint32_t host = 0;
  a_.memory->log_words(address_of(&host), 4, 83);
  EXPECT_TRUE(a_.client.words.empty());
}

}  // namespace
}  // namespace symmcts::platform

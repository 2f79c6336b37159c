// Memory of two real processes on a real broker: the whole rendezvous over FABRIC and over POSIX
// descriptors, and what a late import gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "harness/platform/broker/tests/processes.hpp"
#include "harness/platform/process/local_machine.hpp"

namespace symmcts::platform {
namespace {

using test::Child;
using test::Line;
using ::testing::Each;

constexpr std::uint64_t kSize = 8 << 20;
using Token = std::array<std::uint8_t, 64>;

// What one rank of a group of two holds, on a machine of gb200-nvl2.
struct Rank {
  Rank(const std::string& machine, int rank, std::vector<int> visible)
      : client(test::join(test::options_for(machine, rank))) {
    auto parsed = parse_profile(client->machine().profile_text, "profile of the machine");
    EXPECT_TRUE(parsed) << parsed.error();
    profile = parsed.value();
    memory = Memory::make(*client, profile, clock, std::move(visible));
  }

  void own_memory(std::uint32_t types) {
    EXPECT_EQ(memory->create(0, kSize, types, own), Code::success);
    at_own = mapped(own);
  }
  std::uint64_t mapped(AppHandle handle) {
    std::uint64_t at = 0;
    EXPECT_EQ(memory->reserve(kSize, profile.multicast_granularity.value, 0, at), Code::success);
    EXPECT_EQ(memory->map(at, kSize, 0, handle), Code::success);
    EXPECT_EQ(memory->set_access(at, kSize, {{0, 3}}), Code::success);
    return at;
  }
  // Add, bind, map: the two last wait for the other rank.
  void enter(AppHandle object) {
    multicast = object;
    EXPECT_EQ(memory->multicast_add_device(object, 0), Code::success);
    EXPECT_EQ(memory->multicast_bind_mem(object, 0, own, 0, kSize), Code::success);
    at_multicast = mapped(object);
  }
  std::vector<unsigned char> read(std::uint64_t offset) {
    std::vector<unsigned char> out(64, 0xee);
    const auto host = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(out.data()));
    EXPECT_EQ(memory->copy_bytes(host, at_own + offset, out.size()), Code::success);
    return out;
  }
  void leave() {
    EXPECT_EQ(memory->unmap(at_multicast, kSize), Code::success);
    EXPECT_EQ(memory->multicast_unbind(multicast, 0, 0, kSize), Code::success);
    EXPECT_EQ(memory->release(multicast), Code::success);
    EXPECT_EQ(memory->unmap(at_own, kSize), Code::success);
    EXPECT_EQ(memory->release(own), Code::success);
  }

  LocalClock clock;
  std::unique_ptr<Client> client;
  Profile profile;
  std::unique_ptr<Memory> memory;
  AppHandle own = 0, multicast = 0;
  std::uint64_t at_own = 0, at_multicast = 0;
};

// Both ranks write a quarter of the object each; each then sees both in its own memory. Nobody
// writes before both are bound: that one rank's bind has returned says nothing of the other's
// (A9.15).
void exchange_bytes(Rank& rank, Line& line, int number) {
  line.say("bound");
  EXPECT_EQ(line.hear(), "write");
  const auto pattern = static_cast<std::uint32_t>(0x11 * (number + 1));
  const std::uint64_t place = kSize / 4 * static_cast<std::uint64_t>(number);
  EXPECT_EQ(rank.memory->fill_bytes(rank.at_multicast + place, pattern, 1, 64), Code::success);
  line.say("written");
  EXPECT_EQ(line.hear(), "read");
  EXPECT_THAT(rank.read(0), Each(0x11));
  EXPECT_THAT(rank.read(kSize / 4), Each(0x22));
  EXPECT_THAT(rank.read(kSize / 2), Each(0));
  rank.leave();
}

void finish(Child& root, Child& peer) {
  EXPECT_EQ(root.line().hear(), "bound");
  EXPECT_EQ(peer.line().hear(), "bound");
  root.line().say("write");
  peer.line().say("write");
  EXPECT_EQ(root.line().hear(), "written");
  EXPECT_EQ(peer.line().hear(), "written");
  root.line().say("read");
  peer.line().say("read");
  EXPECT_EQ(root.wait(), 0);
  EXPECT_EQ(peer.wait(), 0);
}

// A pad that is reset by a long fill holds no old signal for the waits that follow (SM-SIG-1).
TEST(MemoryOnABroker, ALongFillIsAWriteToTheWordsInIt) {
  Child child([&](Line&) {
    Rank rank("", 0, {0, 1});
    rank.own_memory(0);
    EXPECT_EQ(rank.memory->write_word(rank.at_own + 64, 5, 4, 100), Code::success);
    EXPECT_EQ(rank.memory->fill_bytes(rank.at_own, 0, 1, 4096), Code::success);
    rank.memory->log_words(rank.at_own, 4096, 2'000'000);
    const std::uint64_t object = rank.memory->resolve(rank.at_own).object;
    rank.client->word_wait({1, object, 64, 4, WordTest::eq, 5, 3'000'000});
    rank.client->word_wait({2, object, 64, 4, WordTest::eq, 0, 1'000'000});
    // Of the two only the second is ever answered, and not before the fill.
    for (auto notice = rank.client->next_notice();; notice = rank.client->next_notice()) {
      ASSERT_TRUE(notice);
      if (notice->kind != Notice::Kind::word_done) continue;
      EXPECT_EQ(notice->id, 2u);
      EXPECT_GE(notice->at, 2'000'000u);
      break;
    }
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(MemoryOnABroker, TwoProcessesMeetOverFabric) {
  test::TempFolder folder;
  const std::string machine = folder.file("machine");
  Child root([&](Line& line) {
    Rank rank(machine, 0, {0, 1});
    rank.own_memory(kHandleFabric);
    AppHandle created = 0, imported = 0;
    EXPECT_EQ(rank.memory->multicast_create(2, kSize, kHandleFabric, created), Code::success);
    Token token{};
    EXPECT_EQ(rank.memory->export_fabric(created, token), Code::success);
    line.say(std::string(token.begin(), token.end()));
    EXPECT_EQ(rank.memory->import_fabric(token, imported), Code::success);  // uniform self-import
    rank.enter(imported);
    const AddressInfo info = rank.memory->resolve(rank.at_multicast);
    EXPECT_FALSE(info.native);
    EXPECT_EQ(info.ordinal, 0);
    exchange_bytes(rank, line, 0);
    EXPECT_EQ(rank.memory->release(created), Code::success);
  });
  Child peer([&](Line& line) {
    Rank rank(machine, 1, {1});  // its GPU is ordinal 0 to it
    rank.own_memory(kHandleFabric);
    Token token{};
    const std::string text = line.hear();
    ASSERT_EQ(text.size(), token.size());
    std::memcpy(token.data(), text.data(), token.size());
    AppHandle imported = 0;
    EXPECT_EQ(rank.memory->import_fabric(token, imported), Code::success);
    rank.enter(imported);
    exchange_bytes(rank, line, 1);
  });
  peer.line().say(root.line().hear());
  finish(root, peer);
}

// facts A4.14, A16.1
TEST(MemoryOnABroker, TwoProcessesMeetOverDescriptors) {
  test::TempFolder folder;
  const std::string machine = folder.file("machine");
  Child root([&](Line& line) {
    Rank rank(machine, 0, {0, 1});
    rank.own_memory(kHandlePosixFd);
    AppHandle created = 0;
    EXPECT_EQ(rank.memory->multicast_create(2, kSize, kHandlePosixFd, created), Code::success);
    int fd = -1;
    EXPECT_EQ(rank.memory->export_fd(created, fd), Code::success);
    line.say("object", fd);
    close(fd);
    rank.enter(created);  // as before pytorch#192530
    const AddressInfo info = rank.memory->resolve(rank.at_multicast);
    EXPECT_TRUE(info.native);
    EXPECT_EQ(info.allowed_handle_types, kHandlePosixFd);
    exchange_bytes(rank, line, 0);
  });
  Child peer([&](Line& line) {
    Rank rank(machine, 1, {1});
    rank.own_memory(kHandlePosixFd);
    int fd = -1;
    EXPECT_EQ(line.hear(&fd), "object");
    AppHandle imported = 0;
    EXPECT_EQ(rank.memory->import_fd(fd, imported), Code::success);
    close(fd);
    rank.enter(imported);
    exchange_bytes(rank, line, 1);
  });
  int fd = -1;
  const std::string what = root.line().hear(&fd);
  peer.line().say(what, fd);
  close(fd);
  finish(root, peer);
}

// A4.8 (reported, torchcomms#3506): once the create reference is gone, a FABRIC import succeeds
// with an object of its own, which reports nothing of the kind.
TEST(MemoryOnABroker, ALateFabricImportGetsAnEmptyObject) {
  test::TempFolder folder;
  const std::string machine = folder.file("machine");
  Child root([&](Line& line) {
    Rank rank(machine, 0, {0, 1});
    AppHandle created = 0, early = 0, late = 0;
    EXPECT_EQ(rank.memory->multicast_create(2, kSize, kHandleFabric, created), Code::success);
    Token token{};
    EXPECT_EQ(rank.memory->export_fabric(created, token), Code::success);
    EXPECT_EQ(rank.memory->import_fabric(token, early), Code::success);
    EXPECT_EQ(rank.memory->release(created), Code::success);
    EXPECT_EQ(rank.memory->import_fabric(token, late), Code::success);
    HandleInfo first, second;
    EXPECT_EQ(rank.memory->info(early, first), Code::success);
    EXPECT_EQ(rank.memory->info(late, second), Code::success);
    EXPECT_NE(first.object, second.object);
    EXPECT_EQ(rank.memory->multicast_add_device(early, 0), Code::success);
    EXPECT_EQ(rank.memory->multicast_add_device(late, 0), Code::success);
    line.say("done");
  });
  EXPECT_EQ(root.line().hear(), "done");
  EXPECT_EQ(root.wait(), 0);
}

// A10.10, A12.14: what a dead process had bound is gone, and a write goes on without it.
TEST(MemoryOnABroker, AWriteOutlivesADeadReplica) {
  test::TempFolder folder;
  const std::string machine = folder.file("machine");
  Child root([&](Line& line) {
    Rank rank(machine, 0, {0, 1});
    rank.own_memory(kHandleFabric);
    AppHandle created = 0;
    EXPECT_EQ(rank.memory->multicast_create(2, kSize, kHandleFabric, created), Code::success);
    Token token{};
    EXPECT_EQ(rank.memory->export_fabric(created, token), Code::success);
    line.say(std::string(token.begin(), token.end()));
    rank.enter(created);
    EXPECT_EQ(line.hear(), "peer is bound");
    EXPECT_EQ(rank.memory->fill_bytes(rank.at_multicast, 1, 1, 64), Code::success);
    line.say("written");
    EXPECT_EQ(line.hear(), "peer is dead");
    EXPECT_EQ(rank.memory->fill_bytes(rank.at_multicast, 2, 1, 64), Code::success);
    EXPECT_THAT(rank.read(0), Each(2));
    const std::uint64_t object = rank.memory->resolve(rank.at_multicast).object;
    EXPECT_TRUE(test::eventually([&] {
      std::vector<Replica> bound;
      return rank.client->replicas(object, bound) == Code::success && bound.size() == 1;
    }));
    EXPECT_EQ(rank.memory->fill_bytes(rank.at_multicast, 3, 1, 64), Code::success);
    EXPECT_THAT(rank.read(0), Each(3));
    rank.leave();
  });
  Child peer([&](Line& line) {
    Rank rank(machine, 1, {1});
    rank.own_memory(kHandleFabric);
    Token token{};
    std::memcpy(token.data(), line.hear().data(), token.size());
    AppHandle imported = 0;
    EXPECT_EQ(rank.memory->import_fabric(token, imported), Code::success);
    rank.enter(imported);
    line.say("bound");
    line.hear();  // until killed
  });
  peer.line().say(root.line().hear());
  EXPECT_EQ(peer.line().hear(), "bound");
  root.line().say("peer is bound");
  EXPECT_EQ(root.line().hear(), "written");
  peer.kill();
  peer.wait();
  root.line().say("peer is dead");
  EXPECT_EQ(root.wait(), 0);
}

}  // namespace
}  // namespace symmcts::platform

// What processes share through a broker: descriptors, tokens, teams, memory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "harness/platform/broker/tests/made_objects.hpp"
#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::IsEmpty;

std::string text_of(const std::array<std::uint8_t, 64>& token) {
  return {token.begin(), token.end()};
}

std::array<std::uint8_t, 64> token_of(const std::string& text) {
  std::array<std::uint8_t, 64> token{};
  EXPECT_EQ(text.size(), token.size());
  std::memcpy(token.data(), text.data(), std::min(text.size(), token.size()));
  return token;
}

TEST(Sharing, BytesReachTheOtherProcessThroughADescriptor) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  Child owner([&](Line& line) {
    auto client = join(options_for(machine, 0));
    const HandleInfo info = create(*client, 0, kHandlePosixFd);
    CallTime time;
    Mapped mapped;
    ASSERT_EQ(client->map(time, info.handle, mapped), Code::success);
    auto* bytes = static_cast<char*>(
        ::mmap(nullptr, 2 * kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.memory_fd, 0));
    std::strcpy(bytes, "written by rank 0");
    int fd = -1;
    ASSERT_EQ(client->export_fd(time, info.handle, fd), Code::success);
    line.say("fd", fd);
    // Measured: the import works after the native release while a descriptor is open. The one in
    // flight, or with the peer, is enough.
    ::close(fd);
    EXPECT_EQ(client->unmap(time, mapped.mapping), Code::success);
    EXPECT_EQ(client->release(time, info.handle), Code::success);
    line.say("released");
    line.hear();
  });
  Child peer([&](Line& line) {
    auto client = join(options_for(machine, 1));
    int fd = -1;
    line.hear(&fd);
    CallTime time;
    HandleInfo info;
    ASSERT_EQ(client->import_fd(time, fd, info), Code::success);
    EXPECT_FALSE(info.native);
    EXPECT_EQ(info.handle_types, 0u);
    EXPECT_EQ(info.gpu, 0);
    ::close(fd);
    Mapped mapped;
    ASSERT_EQ(client->map(time, info.handle, mapped), Code::success);
    char bytes[32] = {};
    EXPECT_GT(::pread(mapped.memory_fd, bytes, sizeof bytes, 0), 0);
    EXPECT_STREQ(bytes, "written by rank 0");
    // Measured: re-export of an imported handle.
    EXPECT_EQ(client->export_fd(time, info.handle, fd), Code::invalid_value);
    line.say("ok");
  });
  int fd = -1;
  EXPECT_EQ(owner.line().hear(&fd), "fd");
  EXPECT_EQ(owner.line().hear(), "released");
  peer.line().say("fd", fd);
  ::close(fd);
  EXPECT_EQ(peer.line().hear(), "ok");
  owner.line().say("end");
  EXPECT_EQ(peer.wait(), 0);
  EXPECT_EQ(owner.wait(), 0);
  EXPECT_TRUE(eventually([&] { return folder.entries().empty(); })) << "socket or lock left behind";
}

TEST(Sharing, ForeignDescriptorsAreRefusedAsMeasured) {
  Child child([](Line&) {
    auto client = join(options_for("", 0));
    CallTime time;
    HandleInfo info;
    EXPECT_EQ(client->import_fd(time, 12345, info), Code::unknown);
    const int null = ::open("/dev/null", O_RDWR);
    EXPECT_EQ(client->import_fd(time, null, info), Code::unknown);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(client->import_fd(time, ends[1], info), Code::unknown);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Sharing, LastCloseOfADescriptorGivesTheSlotBack) {
  TempFolder folder;
  auto options = options_for("", 0);
  options.scenario = folder.write("s.toml", "[faults]\nmulticast_slots = 1\n");
  Child child([&](Line&) {
    auto client = join(options);
    CallTime time;
    const auto gather = [&](const HandleInfo& team) {
      EXPECT_EQ(client->multicast_add_device(time, team.handle, 0), Code::success);
      EXPECT_EQ(client->multicast_add_device(time, team.handle, 1), Code::success);
      Mapped mapped;
      const Code code = client->map(time, team.handle, mapped);
      if (code == Code::success) client->unmap(time, mapped.mapping);
      return code;
    };
    const HandleInfo first = create_team(*client, 2);
    EXPECT_EQ(gather(first), Code::success);
    int fd = -1;
    EXPECT_EQ(client->export_fd(time, first.handle, fd), Code::success);
    const int copy = ::dup(fd);
    ::close(fd);
    EXPECT_EQ(client->release(time, first.handle), Code::success);
    const HandleInfo second = create_team(*client, 2);
    EXPECT_EQ(gather(second), Code::out_of_memory);
    ::close(copy);
    // The very next call finds the slot: closes are never overtaken by later messages.
    const HandleInfo third = create_team(*client, 2);
    EXPECT_EQ(gather(third), Code::success);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Sharing, BindWaitsForTheDeviceOfAnotherProcess) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  const auto body = [&](int rank, Line& line) {
    auto client = join(options_for(machine, rank));
    CallTime time;
    HandleInfo team;
    if (rank == 0) {
      const HandleInfo root = create_team(*client, 2);
      std::array<std::uint8_t, 64> token{};
      EXPECT_EQ(client->export_fabric(time, root.handle, token), Code::success);
      line.say(text_of(token));
      ASSERT_EQ(client->import_fabric(time, token, team), Code::success);
      EXPECT_NE(team.handle, root.handle);
      EXPECT_EQ(team.object, root.object);
    } else {
      ASSERT_EQ(client->import_fabric(time, token_of(line.hear()), team), Code::success);
    }
    const HandleInfo memory = create(*client, rank, kHandleFabric);
    time.now = rank == 0 ? 100 : 5000;
    EXPECT_EQ(client->multicast_add_device(time, team.handle, rank), Code::success);
    EXPECT_EQ(client->multicast_bind(time, team.handle, 0, memory.object, 0, 2 * kMiB),
              Code::success);
    // The bind of rank 0 ends when rank 1, whose clock is ahead, has added its device.
    EXPECT_EQ(time.at, 5000u);
    line.say("bound");
    line.hear();
    std::vector<Replica> replicas;
    EXPECT_EQ(client->replicas(team.object, replicas), Code::success);
    ASSERT_EQ(replicas.size(), 2u);
    EXPECT_EQ(replicas[0].gpu, 0);
    EXPECT_EQ(replicas[1].gpu, 1);
    int fd = -1;
    std::uint64_t size = 0;
    EXPECT_EQ(client->memory_fd(replicas[1 - rank].allocation, fd, size), Code::success);
    EXPECT_EQ(size, 2 * kMiB);
    ::close(fd);
    line.say("seen");
    line.hear();
    EXPECT_EQ(client->multicast_unbind(time, team.handle, rank, 0, 2 * kMiB), Code::success);
    line.say("unbound");
    line.hear();
    EXPECT_EQ(client->replicas(team.object, replicas), Code::success);
    EXPECT_THAT(replicas, IsEmpty()) << "the cache must notice what other processes unbind";
    line.say("done");
  };
  Child root([&](Line& line) { body(0, line); });
  Child peer([&](Line& line) { body(1, line); });
  peer.line().say(root.line().hear());
  for (const char* step : {"bound", "seen", "unbound"}) {
    EXPECT_EQ(root.line().hear(), step);
    EXPECT_EQ(peer.line().hear(), step);
    root.line().say("go");
    peer.line().say("go");
  }
  EXPECT_EQ(root.line().hear(), "done");
  EXPECT_EQ(root.wait(), 0);
  EXPECT_EQ(peer.wait(), 0);
}

TEST(Sharing, KilledClientGivesItsMemoryBack) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  Child keeper([&](Line& line) {
    auto client = join(options_for(machine, 1));
    line.say("here");
    line.hear();
    CallTime time;
    HandleInfo info;
    const std::uint64_t most = 186'000'000'000 / (2 * kMiB) * (2 * kMiB);
    EXPECT_EQ(client->create_memory(time, 0, most, 0, info), Code::success);
  });
  EXPECT_EQ(keeper.line().hear(), "here");
  Child victim([&](Line& line) {
    auto client = join(options_for(machine, 0));
    create(*client, 0, 0);
    line.say("holds");
    line.hear();
  });
  EXPECT_EQ(victim.line().hear(), "holds");
  victim.kill();
  EXPECT_EQ(victim.wait(), -1);
  keeper.line().say("go");
  EXPECT_EQ(keeper.wait(), 0);
}

}  // namespace
}  // namespace symmcts::platform::test

// A broker and its clients as real processes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/rendezvous_point.hpp"
#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = 1 << 20;

std::string text_of(const std::array<std::uint8_t, 64>& token) {
  return {token.begin(), token.end()};
}

std::array<std::uint8_t, 64> token_of(const std::string& text) {
  std::array<std::uint8_t, 64> token{};
  EXPECT_EQ(text.size(), token.size());
  std::memcpy(token.data(), text.data(), std::min(text.size(), token.size()));
  return token;
}

HandleInfo create(Client& client, int gpu, std::uint32_t types) {
  CallTime time;
  HandleInfo info;
  EXPECT_EQ(client.create_memory(time, gpu, 2 * kMiB, types, info), Code::success);
  return info;
}

HandleInfo create_team(Client& client, std::uint32_t devices) {
  CallTime time;
  HandleInfo info;
  EXPECT_EQ(client.multicast_create(time, devices, 2 * kMiB, kHandleFabric | kHandlePosixFd, info),
            Code::success);
  return info;
}

TEST(Broker, PrivateOneEndsWithItsClientAndLeavesNothing) {
  TempFolder folder;
  Child child([&](Line& line) {
    auto client = join(options_for("", -1));
    EXPECT_EQ(client->machine().profile_name, "gb200-nvl2");
    EXPECT_EQ(client->machine().seed, 7u);
    EXPECT_EQ(client->machine().rank, 0);
    EXPECT_EQ(client->machine().gpu_count, 2);
    EXPECT_NE(create(*client, 0, 0).handle, 0u);
    // The broker is no child of ours: nothing to wait for.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
    line.say("ok");
  });
  EXPECT_EQ(child.line().hear(), "ok");
  EXPECT_EQ(child.wait(), 0);
}

TEST(Broker, UnknownProfileIsOneLineFromTheBroker) {
  auto options = options_for("", -1);
  options.profile = "no-such-machine";
  auto joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error(), ::testing::StartsWith("no platform profile 'no-such-machine' in "));
}

TEST(Broker, FaultsInFilesAreNamedByLine) {
  TempFolder folder;
  auto options = options_for("", -1);
  options.scenario = folder.write("s.toml", "[faults]\nmulticast_slots = \"none\"\n");
  auto joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error(), ::testing::StartsWith(options.scenario + ":2:19: "));
  options.scenario = folder.file("absent.toml");
  joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error(), options.scenario + ": No such file or directory");
  options = options_for(folder.file("machine"), -1);
  options.profile = folder.write("p.toml", "name = 3\n");
  joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error(), ::testing::StartsWith(options.profile + ":1:"));
  EXPECT_THAT(folder.entries(), ::testing::UnorderedElementsAre("s.toml", "p.toml"));
}

TEST(Broker, MissingProgramIsNamed) {
  auto options = options_for("", -1);
  options.broker_program = "/nowhere/symmcts-broker";
  auto joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error(), ::testing::HasSubstr("/nowhere/symmcts-broker"));
}

TEST(Broker, BytesReachTheOtherProcessThroughADescriptor) {
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

TEST(Broker, ForeignDescriptorsAreRefusedAsMeasured) {
  Child child([](Line&) {
    auto client = join(options_for("", 0));
    CallTime time;
    HandleInfo info;
    EXPECT_EQ(client->import_fd(time, 12345, info), Code::unknown);
    const int null = ::open("/dev/null", O_RDWR);
    EXPECT_EQ(client->import_fd(time, null, info), Code::invalid_value);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(client->import_fd(time, ends[1], info), Code::invalid_value);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Broker, LastCloseOfADescriptorGivesTheSlotBack) {
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

TEST(Broker, BindWaitsForTheDeviceOfAnotherProcess) {
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

TEST(Broker, KilledClientGivesItsMemoryBack) {
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

TEST(Broker, AForkedChildDoesNotKeepTheDeadAlive) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  Child victim([&](Line& line) {
    auto client = join(options_for(machine, 0));
    if (::fork() == 0) {
      // Holds a copy of its parent's socket until the test lets go of the line.
      CallTime time;
      HandleInfo info;
      if (client->create_memory(time, 0, 2 * kMiB, 0, info) == Code::not_initialized) {
        line.say("refused, as the driver does");
      }
      line.hear();
      ::_exit(0);
    }
    ::pause();
  });
  EXPECT_EQ(victim.line().hear(), "refused, as the driver does");
  victim.kill();
  EXPECT_EQ(victim.wait(), -1);
  // Its broker ends with its last client.
  EXPECT_TRUE(eventually([&] { return folder.entries().empty(); }));
  victim.line().say("end");
}

TEST(Broker, ItsDeathIsToldToEveryClient) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  const pid_t broker = ::fork();
  if (broker == 0) {
    ::execl(SYMMCTS_BROKER_PROGRAM, SYMMCTS_BROKER_PROGRAM, "--socket", machine.c_str(),
            "--profile", profile_path().c_str(), nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(eventually([&] { return ::access(machine.c_str(), F_OK) == 0; }));
  Child client([&](Line& line) {
    auto client = join(options_for(machine, 0));
    // One call is under way when it happens: mapping an object that lacks its devices.
    const HandleInfo team = create_team(*client, 2);
    CallTime time;
    Mapped mapped;
    line.say("maps");
    EXPECT_EQ(client->map(time, team.handle, mapped), Code::unknown);
    auto notice = client->next_notice();
    // An unmanaged client is first told that it waits for nobody.
    ASSERT_TRUE(notice && notice->kind == Notice::Kind::granted && notice->at == kNever);
    notice = client->next_notice();
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->kind, Notice::Kind::broker_gone);
    HandleInfo info;
    EXPECT_EQ(client->create_memory(time, 0, 2 * kMiB, 0, info), Code::unknown);
  });
  EXPECT_EQ(client.line().hear(), "maps");
  ::kill(broker, SIGKILL);
  ::waitpid(broker, nullptr, 0);
  EXPECT_EQ(client.wait(), 0);
  // The next one takes the place of the socket that was left behind.
  Child next([&](Line&) { create(*join(options_for(machine, 0)), 0, 0); });
  EXPECT_EQ(next.wait(), 0);
}

TEST(Broker, SigtermRemovesTheSocket) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  const pid_t broker = ::fork();
  if (broker == 0) {
    ::execl(SYMMCTS_BROKER_PROGRAM, SYMMCTS_BROKER_PROGRAM, "--socket", machine.c_str(),
            "--profile", "gb200-nvl2", "--stay", nullptr);
    ::_exit(127);
  }
  ASSERT_TRUE(eventually([&] { return ::access(machine.c_str(), F_OK) == 0; }));
  Child passing([&](Line&) { join(options_for(machine, 0)); });
  EXPECT_EQ(passing.wait(), 0);
  // With --stay it survives its last client.
  Child again([&](Line&) { EXPECT_EQ(join(options_for(machine, 0))->machine().rank, 0); });
  EXPECT_EQ(again.wait(), 0);
  ::kill(broker, SIGTERM);
  int status = 0;
  ::waitpid(broker, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_THAT(folder.entries(), IsEmpty());
}

TEST(Broker, ProcessesThatComeAtOnceMeetOnOneMachine) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(std::make_unique<Child>([&](Line& line) {
      auto client = join(options_for(machine, -1));
      line.say(std::to_string(client->machine().rank));
      line.hear();
    }));
  }
  std::vector<std::string> ranks;
  for (auto& child : children) ranks.push_back(child->line().hear());
  EXPECT_THAT(ranks, ::testing::UnorderedElementsAre("0", "1", "2", "3", "4", "5"));
  for (auto& child : children) {
    child->line().say("go");
    EXPECT_EQ(child->wait(), 0);
  }
  EXPECT_TRUE(eventually([&] { return folder.entries().empty(); }));
}

TEST(Broker, EndsAndStartsInTurnsWithoutLosingAClient) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(std::make_unique<Child>([&](Line&) {
      // Each time the broker may be about to end.
      for (int round = 0; round < 15; ++round) join(options_for(machine, -1));
    }));
  }
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
}

TEST(Broker, GarbageEndsOnlyItsSender) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  Child good([&](Line& line) {
    auto client = join(options_for(machine, 0));
    line.say("here");
    line.hear();
    EXPECT_NE(create(*client, 0, 0).handle, 0u);
  });
  EXPECT_EQ(good.line().hear(), "here");
  for (const Bytes& garbage :
       {Bytes{0xff}, Bytes(100'000, 0xee), Bytes{1, 2, 3}, Bytes(64, 0), Bytes{1}}) {
    auto socket = connect_to(machine);
    ASSERT_TRUE(socket && socket.value());
    send_packet(socket.value().get(), garbage, -1, true);
    Packet packet;
    while (receive_packet(socket.value().get(), packet, true) == IoResult::done) {
    }
  }
  good.line().say("go");
  EXPECT_EQ(good.wait(), 0);
}

TEST(Broker, AHostThatTheMachineLacksIsRefused) {
  auto options = options_for("", 0);
  options.host = 3;
  auto joined = Client::join(options);
  ASSERT_FALSE(joined);
  EXPECT_THAT(joined.error(), ::testing::HasSubstr("rank 0 on host 3"));
}

}  // namespace
}  // namespace symmcts::platform::test

// How a broker comes, meets its clients and ends, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/platform/broker/machine_view.hpp"
#include "harness/platform/broker/packet_socket.hpp"
#include "harness/platform/broker/rendezvous_point.hpp"
#include "harness/platform/broker/tests/made_objects.hpp"
#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::IsEmpty;

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

TEST(Broker, WhoLooksTakesNoPart) {
  TempFolder folder;
  const auto machine = folder.file("machine");
  auto view = look_at_machine(machine, 0);
  ASSERT_TRUE(view) << view.error();
  EXPECT_FALSE(view.value()) << "nobody listens";
  EXPECT_THAT(folder.entries(), IsEmpty()) << "looking starts no broker";
  Child child([&](Line& line) {
    auto options = options_for(machine, -1);
    options.managed = true;
    auto client = join(options);
    create(*client, 1, 0);
    line.say("created");
    line.hear();
    EXPECT_TRUE(client->deterministic());
  });
  EXPECT_EQ(child.line().hear(), "created");
  for (int again = 0; again < 2; ++again) {
    view = look_at_machine(machine, 0);
    ASSERT_TRUE(view && view.value());
    EXPECT_EQ(view.value()->profile_name, "gb200-nvl2");
    EXPECT_EQ(view.value()->seed, 7u);
    EXPECT_THAT(view.value()->memory_used, ::testing::ElementsAre(0u, 2 * kMiB));
  }
  view = look_at_machine(machine, 1);
  ASSERT_FALSE(view);
  EXPECT_THAT(view.error(), ::testing::HasSubstr("no host 1"));
  child.line().say("go on");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(eventually([&] { return folder.entries().empty(); })) << "the broker has ended";
}

}  // namespace
}  // namespace symmcts::platform::test

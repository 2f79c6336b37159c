// A rack's and a job's worth of clients on one broker, each with a GPU of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "harness/platform/broker/tests/made_objects.hpp"
#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {
namespace {

using Token = std::array<std::uint8_t, 64>;

// Makes memory, shares it with the next rank, maps its own and its neighbour's, and joins a
// multicast object of the eight ranks of its group, of which the first is the root. Says "done",
// waits to be told, and leaves without giving anything back.
void take_part(const JoinOptions& options, int gpu, bool root, Line& line) {
  auto client = join(options);
  CallTime time;
  const HandleInfo mine = create(*client, gpu, kHandleFabric);
  Token token{};
  EXPECT_EQ(client->export_fabric(time, mine.handle, token), Code::success);
  line.say({token.begin(), token.end()});
  if (root) {
    const HandleInfo team = create_team(*client, 8);
    EXPECT_EQ(client->export_fabric(time, team.handle, token), Code::success);
    line.say({token.begin(), token.end()});
  }
  HandleInfo neighbour, team;
  for (HandleInfo* info : {&neighbour, &team}) {
    const std::string told = line.hear();
    ASSERT_EQ(told.size(), token.size());
    std::copy(told.begin(), told.end(), token.begin());
    EXPECT_EQ(client->import_fabric(time, token, *info), Code::success);
  }
  EXPECT_EQ(client->multicast_add_device(time, team.handle, gpu), Code::success);
  EXPECT_EQ(client->multicast_bind(time, team.handle, 0, mine.object, 0, 2 * kMiB), Code::success);
  for (const HandleInfo& info : {mine, neighbour, team}) {
    Mapped mapped;
    EXPECT_EQ(client->map(time, info.handle, mapped), Code::success);
    if (mapped.memory_fd >= 0) ::close(mapped.memory_fd);
  }
  line.say("done");
  line.hear();
}

// The broker of the profile serves `ranks` ranks in groups of eight in a row, and goes with them.
void serve(const std::string& profile, int ranks) {
  TempFolder folder;
  const std::string machine = folder.file("machine");
  std::vector<std::unique_ptr<Child>> children;
  for (int rank = 0; rank < ranks; ++rank) {
    JoinOptions options = options_for(machine, rank);
    options.profile = SYMMCTS_SOURCE_PROFILES "/" + profile + ".toml";
    options.host = rank / 4;
    children.push_back(std::make_unique<Child>(
        [options, rank](Line& line) { take_part(options, rank, rank % 8 == 0, line); }));
  }
  std::vector<std::string> memory, teams;
  for (int rank = 0; rank < ranks; ++rank) {
    memory.push_back(children[static_cast<std::size_t>(rank)]->line().hear());
    ASSERT_EQ(memory.back().size(), 64u) << "rank " << rank;
    if (rank % 8 == 0) teams.push_back(children[static_cast<std::size_t>(rank)]->line().hear());
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    children[index]->line().say(memory[(index + 1) % memory.size()]);
    children[index]->line().say(teams[index / 8]);
  }
  for (const auto& child : children) EXPECT_EQ(child->line().hear(), "done");
  for (const auto& child : children) child->line().say("go");
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_TRUE(eventually([&] { return folder.entries().empty(); })) << "the broker has ended";
}

TEST(Scale, ARackOf72) { serve("gb200-nvl72", 72); }
TEST(Scale, AJobOf256InFourDomains) { serve("gb200-4x64", 256); }

}  // namespace
}  // namespace symmcts::platform::test

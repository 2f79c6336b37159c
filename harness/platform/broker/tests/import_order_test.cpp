// An import by token beside the release of what it names: whose turn it is, and holds that decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "harness/platform/broker/tests/order_machine.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLateImport[] = R"(
[[hold]]
rank = 1
before = "cuMemImportFromShareableHandle"
object = "multicast"
until_rank = 0
until_passed = "cuMemRelease"
until_object = "multicast"
)";

// The calls of torchcomms#3506: the root imports its own handle; rank 1 imports when the scenario
// lets it. `root_waits`: the root drops its create reference only after rank 1 has imported.
class LateImport {
 public:
  explicit LateImport(bool root_waits) : root_waits_(root_waits) {}

  static void send(Client& client, Line& line, const std::string& text) {
    client.message_out(1 - client.machine().rank);
    line.say(text);
  }
  static std::string receive(Client& client, Line& line) {
    client.report_stuck(in_exchange(kNever));
    const std::string text = line.hear();
    client.message_in(1);
    return text;
  }
  static Code import(Client& client, CallTime& time, const std::array<std::uint8_t, 64>& token,
                     HandleInfo& out) {
    return blocked(client, "cuMemImportFromShareableHandle",
                   [&] { return client.import_fabric(time, token, out); });
  }
  Code bind(Client& client, const HandleInfo& team, int gpu) const {
    CallTime time;
    HandleInfo memory;
    EXPECT_EQ(create_memory(client, time, gpu, kHandleFabric, memory), Code::success);
    const auto add = [&] { return client.multicast_add_device(time, team.handle, gpu); };
    EXPECT_EQ(blocked(client, "cuMulticastAddDevice", add), Code::success);
    return blocked(client, "cuMulticastBindMem", [&] {
      return client.multicast_bind(time, team.handle, 0, memory.object, 0, 2 * kMiB);
    });
  }
  Code root(Client& client, Line& line) const {
    CallTime time;
    time.now = 1000;
    HandleInfo created, self;
    std::array<std::uint8_t, 64> token{};
    blocked(client, "cuMulticastCreate",
            [&] { return client.multicast_create(time, 2, 2 * kMiB, kHandleFabric, created); });
    client.export_fabric(time, created.handle, token);
    EXPECT_EQ(import(client, time, token, self), Code::success);
    send(client, line, {token.begin(), token.end()});
    if (root_waits_) receive(client, line);
    const auto release = [&] { return client.release(time, created.handle); };
    EXPECT_EQ(blocked(client, "cuMemRelease", release), Code::success);
    client.passed(time, "cuMemRelease", created.handle);
    return bind(client, self, 0);
  }
  Code peer(Client& client, Line& line) const {
    const std::string bytes = receive(client, line);
    std::array<std::uint8_t, 64> token{};
    std::copy(bytes.begin(), bytes.end(), token.begin());
    CallTime time;
    HandleInfo team;
    blocked(client, "cuMemImportFromShareableHandle", [&] {
      client.before_import(time, "cuMemImportFromShareableHandle", -1, &token);
      return Code::success;
    });
    if (!root_waits_) {
      EXPECT_EQ(time.at, 1000u) << "not before the root's release";
    }
    EXPECT_EQ(import(client, time, token, team), Code::success);
    EXPECT_EQ(team.size, root_waits_ ? 2 * kMiB : 0u);
    if (root_waits_) send(client, line, "imported");
    return bind(client, team, 1);
  }

 private:
  bool root_waits_;
};

// Two ranks with a line to each other.
struct Pair {
  int ends[2];
  Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0); }
};

// A release of the last reference and an import by FABRIC token that nothing orders: the earlier
// one in virtual time comes first, whoever asks first.
TEST(Order, TheEarlierCallComesFirstWhateverTheLoad) {
  for (const Ns import_at : {Ns{900}, Ns{1'100}}) {
    for (const int slow : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "import at " << import_at << ", rank " << slow << " slow");
      TempFolder folder;
      Machine machine(folder, 2);
      Pair pair;
      Child root([&](Line&) {
        auto client = machine.join(0);
        Line exchange(pair.ends[0]);
        CallTime time;
        HandleInfo created;
        std::array<std::uint8_t, 64> token{};
        blocked(*client, "cuMulticastCreate", [&] {
          return client->multicast_create(time, 2, 2 * kMiB, kHandleFabric, created);
        });
        client->export_fabric(time, created.handle, token);
        LateImport::send(*client, exchange, {token.begin(), token.end()});
        if (slow == 0) ::usleep(50'000);
        time.now = 1'000;
        const auto release = [&] { return client->release(time, created.handle); };
        EXPECT_EQ(blocked(*client, "cuMemRelease", release), Code::success);
      });
      Child peer([&](Line&) {
        auto client = machine.join(1);
        Line exchange(pair.ends[1]);
        const std::string bytes = LateImport::receive(*client, exchange);
        std::array<std::uint8_t, 64> token{};
        std::copy(bytes.begin(), bytes.end(), token.begin());
        if (slow == 1) ::usleep(50'000);
        CallTime time;
        time.now = import_at;
        HandleInfo team;
        EXPECT_EQ(LateImport::import(*client, time, token, team), Code::success);
        EXPECT_EQ(team.size, import_at < 1'000 ? 2 * kMiB : 0u);
      });
      EXPECT_EQ(root.wait(), 0);
      EXPECT_EQ(peer.wait(), 0);
    }
  }
}

TEST(Order, AHoldMakesTheLateImportOf3506AndTheDeadlockIsNamed) {
  TempFolder folder;
  Machine machine(folder, 2, kLateImport);
  Pair pair;
  const LateImport ranks(/*root_waits=*/false);
  const auto body = [&](int rank) {
    return [&, rank](Line& line) {
      auto client = machine.join(rank);
      Line exchange(pair.ends[rank]);
      for (const char* call : {"cuInit", "cuMemCreate", "cuMemCreate", "cuMemRelease",
                               "cuMulticastAddDevice", "cuMulticastBindMem"}) {
        client->calls(call);
      }
      std::thread calls([&] {
        const Code code = rank == 0 ? ranks.root(*client, exchange) : ranks.peer(*client, exchange);
        EXPECT_EQ(code, Code::unknown) << "goes on blocking until the broker is gone";
      });
      const Notice notice = next(*client);
      EXPECT_EQ(notice.kind, Notice::Kind::deadlock);
      EXPECT_THAT(notice.text, HasSubstr("no rank can move"));
      line.say("told");
      calls.join();
    };
  };
  Child root(body(0)), peer(body(1));
  EXPECT_EQ(root.line().hear(), "told");
  EXPECT_EQ(peer.line().hear(), "told");
  ASSERT_EQ(machine.report().size(), 1u);
  const auto hang = nlohmann::json::parse(machine.report()[0]);
  EXPECT_EQ(hang["type"], "hang");
  EXPECT_EQ(hang["source"], "platform");
  ASSERT_EQ(hang["ranks"].size(), 2u);
  EXPECT_EQ(hang["ranks"][0]["where"], "cuMulticastBindMem");
  EXPECT_EQ(hang["ranks"][1]["rank"], 1);
  // The last four; one call twice in a row counts once.
  EXPECT_EQ(hang["ranks"][1]["calls"],
            "cuMemCreate, cuMemRelease, cuMulticastAddDevice, cuMulticastBindMem");
  ASSERT_EQ(hang["objects"].size(), 2u);
  EXPECT_EQ(hang["objects"][0]["empty"], false);
  EXPECT_THAT(hang["objects"][0]["missing"], ElementsAre(1));
  EXPECT_EQ(hang["objects"][1]["empty"], true);
  EXPECT_EQ(hang["objects"][1]["creator"], 0);
  EXPECT_THAT(hang["objects"][1]["added"], ElementsAre(1));
  EXPECT_THAT(
      std::string(hang["text"]),
      HasSubstr("rank 0 waits in cuMulticastBindMem on the multicast object of rank 0 (1 of "
                "2 devices added; missing: 1)"));
  EXPECT_THAT(std::string(hang["text"]), HasSubstr("empty multicast object"));
  EXPECT_THAT(std::string(hang["text"]),
              HasSubstr("(last calls: cuMemCreate, cuMemRelease, cuMulticastAddDevice, "
                        "cuMulticastBindMem)"));
}

TEST(Order, AHoldOpensWhenTheRootWaitsForTheImport) {
  TempFolder folder;
  Machine machine(folder, 2, kLateImport);
  Pair pair;
  const LateImport ranks(/*root_waits=*/true);
  const auto body = [&](int rank) {
    return [&, rank](Line&) {
      auto client = machine.join(rank);
      Line exchange(pair.ends[rank]);
      EXPECT_EQ(rank == 0 ? ranks.root(*client, exchange) : ranks.peer(*client, exchange),
                Code::success);
    };
  };
  Child root(body(0)), peer(body(1));
  EXPECT_EQ(root.wait(), 0);
  EXPECT_EQ(peer.wait(), 0);
  EXPECT_EQ(machine.wait(), 0);
  EXPECT_THAT(machine.report(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace symmcts::platform::test

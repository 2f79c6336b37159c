// What moves a machine on which every process waits: grants, words, holds, deadlines, deadlocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/platform/broker/tests/processes.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = 1 << 20;

constexpr char kLateImport[] = R"(
[[hold]]
rank = 1
before = "cuMemImportFromShareableHandle"
object = "multicast"
until_rank = 0
until_passed = "cuMemRelease"
until_object = "multicast"
)";

// A broker that this test started, as the supervisor does.
class Machine {
 public:
  Machine(const TempFolder& folder, int clients, const std::string& scenario = {})
      : socket_(folder.file("machine")), report_(folder.file("report")) {
    std::vector<std::string> words{SYMMCTS_BROKER_PROGRAM, "--socket", socket_, "--profile",
                                   profile_path(),         "--report", report_, "--expect-clients",
                                   std::to_string(clients)};
    if (!scenario.empty()) {
      words.insert(words.end(), {"--scenario", folder.write("scenario.toml", scenario)});
    }
    child_ = std::make_unique<Child>([words](Line&) mutable {
      std::vector<char*> argv;
      for (auto& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    });
    EXPECT_TRUE(eventually([&] { return ::access(socket_.c_str(), F_OK) == 0; }));
  }
  std::unique_ptr<Client> join(int rank) const {
    auto options = options_for(socket_, rank);
    options.managed = true;
    return test::join(options);
  }
  int wait() { return child_->wait(); }
  std::vector<std::string> report() const {
    std::ifstream file(report_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  std::string socket_, report_;
  std::unique_ptr<Child> child_;
};

Notice next(Client& client) {
  const auto notice = client.next_notice();
  EXPECT_TRUE(notice);
  return notice.value_or(Notice{});
}

Stuck at_event(Ns next) { return {next, kNever, "cuStreamSynchronize", false}; }
Stuck in_exchange(Ns deadline) { return {kNever, deadline, "exchange", false, true}; }
Stuck in_call(const char* where) { return {kNever, kNever, where, true}; }

// The call ends when the broker lets it; meanwhile the rank reports where it waits, as its executor
// would.
Code blocked(Client& client, const char* where, const std::function<Code()>& call) {
  client.report_stuck(in_call(where));
  const Code code = call();
  client.report_running();
  return code;
}

Code create_memory(Client& client, CallTime& time, int gpu, std::uint32_t types, HandleInfo& out) {
  return blocked(client, "cuMemCreate",
                 [&] { return client.create_memory(time, gpu, 2 * kMiB, types, out); });
}

TEST(Order, GrantsGoInVirtualTimeWhateverTheLoad) {
  TempFolder folder;
  Machine machine(folder, 2);
  // Each rank writes what it was granted before it reports again, so that the pipe shows the order
  // in which the machine moved.
  int order[2];
  ASSERT_EQ(::pipe(order), 0);
  const auto logged = [&](int rank, std::vector<Ns> events, unsigned pause_us) {
    return [&, rank, events, pause_us](Line&) {
      auto client = machine.join(rank);
      for (const Ns event : events) {
        ::usleep(pause_us);
        client->report_stuck(at_event(event));
        const Notice notice = next(*client);
        EXPECT_EQ(notice.kind, Notice::Kind::granted);
        EXPECT_EQ(notice.at, event);
        const std::string text = std::to_string(rank) + ":" + std::to_string(event) + " ";
        EXPECT_GT(::write(order[1], text.data(), text.size()), 0);
      }
    };
  };
  Child slow(logged(0, {100, 300, 500}, 20'000));
  Child fast(logged(1, {100, 200, 400, 600}, 0));
  EXPECT_EQ(slow.wait(), 0);
  EXPECT_EQ(fast.wait(), 0);
  char text[256] = {};
  EXPECT_GT(::read(order[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "0:100 1:100 1:200 0:300 1:400 0:500 1:600 ");
  EXPECT_EQ(machine.wait(), 0);
}

TEST(Order, AWordWaitIsAnsweredWithTheTimeOfTheWrite) {
  TempFolder folder;
  Machine machine(folder, 2);
  Child writer([&](Line& line) {
    auto client = machine.join(0);
    CallTime time;
    HandleInfo info;
    ASSERT_EQ(create_memory(*client, time, 0, 0, info), Code::success);
    client->touch_words(info.object, 64, 4);
    line.say(std::to_string(info.object));
    line.hear();
    client->word_write(info.object, 64, 4, 1, 5000);
    line.hear();
  });
  Child waiter([&](Line& line) {
    auto client = machine.join(1);
    client->report_stuck(in_exchange(kNever));
    const std::uint64_t object = std::stoull(line.hear());
    client->report_running();
    client->word_wait({11, object, 64, 4, WordTest::geq, 1, 100});
    client->word_wait({12, object, 64, 4, WordTest::eq, 0, 200});
    const Notice first = next(*client);
    EXPECT_EQ(first.kind, Notice::Kind::word_done);
    EXPECT_EQ(first.id, 12u);
    EXPECT_EQ(first.at, 200u);
    line.say("waits");
    const Notice second = next(*client);
    EXPECT_EQ(second.id, 11u);
    EXPECT_GE(second.at, 5000u);
    line.say("done");
  });
  waiter.line().say(writer.line().hear());
  EXPECT_EQ(waiter.line().hear(), "waits");
  writer.line().say("go");
  EXPECT_EQ(waiter.line().hear(), "done");
  writer.line().say("end");
  EXPECT_EQ(waiter.wait(), 0);
  EXPECT_EQ(writer.wait(), 0);
}

TEST(Order, AProcessKnowsTheWordsThatItWaitedForOrTouched) {
  Child child([&](Line&) {
    auto options = options_for("", 0);
    options.managed = true;
    auto client = join(options);
    CallTime time;
    HandleInfo info, other;
    ASSERT_EQ(client->create_memory(time, 0, 2 * kMiB, 0, info), Code::success);
    ASSERT_EQ(client->create_memory(time, 0, 2 * kMiB, 0, other), Code::success);
    client->word_wait({1, info.object, 64, 8, WordTest::eq, 1, 100});
    client->touch_words(info.object, 128, 4);
    client->touch_words(other.object, 256, 4);
    EXPECT_THAT(client->open_words(info.object, 0, 2 * kMiB), ElementsAre(64, 68, 128));
    EXPECT_THAT(client->open_words(info.object, 66, 4), ElementsAre(64, 68));
    // A long store that set them is a write like any other.
    for (const auto offset : client->open_words(info.object, 64, 32)) {
      client->word_write(info.object, offset, 4, offset == 64 ? 1 : 0, 900);
    }
    EXPECT_EQ(next(*client).id, 1u);
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Order, AnUnmanagedClientFreesEverybody) {
  TempFolder folder;
  Machine machine(folder, 2);
  Child managed([&](Line& line) {
    auto client = machine.join(0);
    client->report_stuck(at_event(100));
    line.say("stuck");
    const Notice notice = next(*client);
    EXPECT_EQ(notice.kind, Notice::Kind::granted);
    EXPECT_EQ(notice.at, kNever);
    EXPECT_FALSE(client->deterministic());
  });
  EXPECT_EQ(managed.line().hear(), "stuck");
  Child other([&](Line& line) {
    auto options = options_for(folder.file("machine"), 1);
    auto client = join(options);
    CallTime time;
    HandleInfo info;
    EXPECT_EQ(client->create_memory(time, 0, 2 * kMiB, 0, info), Code::success);
    line.hear();
  });
  EXPECT_EQ(managed.wait(), 0);
  other.line().say("end");
  EXPECT_EQ(other.wait(), 0);
}

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

TEST(Order, MisuseIsKeptForTheEvidence) {
  TempFolder folder;
  Machine machine(folder, 1);
  Child child([&](Line&) {
    auto client = machine.join(0);
    client->misused({"double-release", "stream", "cuStreamDestroy", 700, 1});
    client->misused({"leak", "mapping", "cuMemMap", 40, 3});
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(machine.wait(), 0);
  ASSERT_EQ(machine.report().size(), 2u);
  const auto first = nlohmann::json::parse(machine.report()[0]);
  EXPECT_EQ(first["type"], "misuse");
  EXPECT_EQ(first["rank"], 0);
  EXPECT_EQ(first["kind"], "double-release");
  EXPECT_EQ(first["t"], 700);
  EXPECT_EQ(first["text"], "double release of a stream in cuStreamDestroy");
  const auto second = nlohmann::json::parse(machine.report()[1]);
  EXPECT_EQ(second["count"], 3);
  EXPECT_EQ(second["text"], "left at exit: 3 mappings, the first made by cuMemMap at 40 ns");
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

TEST(Order, ADeadlineFiresWhenThePeerWasKilledBeforeItTookItsMessage) {
  TempFolder folder;
  Machine machine(folder, 2);
  Child victim([&](Line& line) {
    auto client = machine.join(1);
    line.say("here");
    line.hear();
  });
  EXPECT_EQ(victim.line().hear(), "here");
  Child survivor([&](Line& line) {
    auto client = machine.join(0);
    client->message_out(1);
    client->report_stuck(in_exchange(7'000));
    line.say("stuck");
    // Its connections to the victim are closed by now: a rank that sees that does not time out.
    EXPECT_EQ(next(*client).kind, Notice::Kind::look_again);
    client->report_stuck(in_exchange(7'000));
    const Notice notice = next(*client);
    EXPECT_EQ(notice.kind, Notice::Kind::deadline);
    EXPECT_EQ(notice.at, 7'000u);
  });
  EXPECT_EQ(survivor.line().hear(), "stuck");
  victim.kill();
  EXPECT_EQ(survivor.wait(), 0);
}

}  // namespace
}  // namespace symmcts::platform::test

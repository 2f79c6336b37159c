// Two real processes, a real broker, real memory: a multicast rendezvous and a write under host
// traffic, as in pytorch#192530, and every virtual time the same on every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "harness/platform/broker/tests/processes.hpp"
#include "harness/platform/process/streams.hpp"

namespace symmcts::platform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
using Token = std::array<std::uint8_t, 64>;

// The harness's exchange in small: one packet carries the clock and a token.
class Exchange {
 public:
  Exchange(int fd, int peer, Streams& streams) : fd_(fd), peer_(peer), streams_(streams) {}
  void send(const Token& token = {}) {
    Packet packet{streams_.message_out(peer_), token};
    ASSERT_EQ(::write(fd_, &packet, sizeof packet), static_cast<ssize_t>(sizeof packet));
  }
  Token receive() {
    streams_.wait_begin(0);
    Packet packet{};
    EXPECT_EQ(::read(fd_, &packet, sizeof packet), static_cast<ssize_t>(sizeof packet));
    streams_.wait_end(&packet.clock, 1);
    return packet.token;
  }
  void barrier() {
    send();
    receive();
  }

 private:
  struct Packet {
    std::uint64_t clock;
    Token token;
  };
  int fd_, peer_;
  Streams& streams_;
};

class Log final : public RecordSink {
 public:
  void on_copy(const CopyRecord& c) override {
    text << (c.kind == CopyKind::htod   ? "HtoD"
             : c.kind == CopyKind::dtoh ? "DtoH"
             : c.kind == CopyKind::dtod ? "DtoD"
                                        : "PtoP")
         << ' ' << c.bytes << ' ' << c.start << ".." << c.end << " ch" << c.channel << '\n';
    if (c.kind == CopyKind::htod) upload = c;
    if (c.correlation == 2) write = c;
  }
  void on_fill(const FillRecord& f) override { text << "fill " << f.start << '\n'; }
  std::ostringstream text;
  CopyRecord upload, write;
};

// What one rank does; returns all times that it saw. `self_import`: the creator maps an imported
// handle too.
std::string rank_body(int me, const std::string& socket, int fd, bool self_import) {
  auto options = test::options_for(socket, me);
  options.managed = true;
  auto client = test::join(options);
  const auto profile = parse_profile(client->machine().profile_text, "profile");
  EXPECT_TRUE(profile);
  auto streams = Streams::make(*client, profile.value());
  auto memory = Memory::make(*client, profile.value(), *streams, {me, 1 - me});
  Log log;
  streams->attach(*memory, log);
  Exchange exchange(fd, 1 - me, *streams);
  const auto ok = [](Code code) { ASSERT_EQ(code, Code::success); };

  // Rank 1 sees its own GPU as ordinal 0: so would a native handle of its own misbehave too.
  const std::uint64_t size = 64 * kMiB;
  AppHandle native = 0, team = 0, mine = 0;
  Token token{};
  if (me == 0) {
    ok(memory->multicast_create(2, size, kHandleFabric, native));
    ok(memory->export_fabric(native, token));
    exchange.send(token);
    if (self_import) ok(memory->import_fabric(token, team));
    if (!self_import) team = native;
  } else {
    token = exchange.receive();
    ok(memory->import_fabric(token, team));
  }
  ok(memory->create(0, size, kHandleFabric, mine));
  ok(memory->multicast_add_device(team, 0));
  ok(memory->multicast_bind_mem(team, 0, mine, 0, size));  // waits for the other rank's device
  std::uint64_t multicast = 0, local = 0, source = 0;
  const std::vector<AccessGrant> access{{0, 3}};
  for (const auto& [address, handle] : {std::pair{&multicast, team}, std::pair{&local, mine}}) {
    ok(memory->reserve(size, 0, 0, *address));
    ok(memory->map(*address, size, 0, handle));
    ok(memory->set_access(*address, size, access));
  }
  ok(memory->alloc_device(0, 16 * kMiB, source));
  void* pinned = nullptr;
  ok(memory->alloc_host(64 * kMiB, pinned));
  const StreamId host = streams->create(0, true), device = streams->create(0, true);
  ok(streams->fill(device, {source, 10 + static_cast<unsigned>(me), 1, 16 * kMiB}, 0, true));
  ok(streams->fill(device, {local + 48 * kMiB, 0, 1, 4 * kMiB}, 0, true));
  ok(streams->synchronize(device));
  exchange.barrier();  // nobody writes before every pad is zero

  // An upload, and beside it the multicast write and a flag behind it.
  ok(streams->copy(host, local + 56 * kMiB, reinterpret_cast<std::uintptr_t>(pinned), 8 * kMiB, 1,
                   true));
  const auto slot = static_cast<std::uint64_t>(me);
  ok(streams->copy(device, multicast + slot * 16 * kMiB, source, 16 * kMiB, 2, true));
  ok(streams->write_value(device, multicast + 48 * kMiB + 64 * slot, 1, 4));
  ok(streams->wait_value(device, local + 48 * kMiB + 64 * (1 - slot), 1, 4, WordTest::geq));
  ok(streams->synchronize(device));
  for (const std::uint64_t rank : {0, 1}) {
    std::vector<std::uint8_t> seen(4096);
    ok(streams->copy(device, reinterpret_cast<std::uintptr_t>(seen.data()),
                     local + rank * 16 * kMiB + 12 * kMiB, seen.size(), 3, true));
    EXPECT_EQ(seen, std::vector<std::uint8_t>(4096, static_cast<std::uint8_t>(10 + rank)));
  }
  ok(streams->synchronize_device(0));
  exchange.barrier();
  log.text << (log.write.start < log.upload.end ? "overlapped" : "serialized") << '\n';
  log.text << "now " << streams->now() << '\n';
  streams.reset();
  return log.text.str();
}

// Both ranks' logs.
std::array<std::string, 2> run(bool self_import) {
  test::TempFolder folder;
  int between[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, between), 0);
  const std::string socket = folder.file("machine");
  std::vector<std::string> words{SYMMCTS_BROKER_PROGRAM, "--socket",         socket, "--profile",
                                 test::profile_path(),   "--expect-clients", "2"};
  test::Child broker([words](test::Line&) mutable {
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  });
  EXPECT_TRUE(test::eventually([&] { return ::access(socket.c_str(), F_OK) == 0; }));
  const auto body = [&](int me) {
    return [&, me](test::Line& line) {
      ::close(between[1 - me]);
      line.say(rank_body(me, socket, between[me], self_import));
    };
  };
  test::Child first(body(0)), second(body(1));
  for (const int fd : between) ::close(fd);
  std::array<std::string, 2> logs{first.line().hear(), second.line().hear()};
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(broker.wait(), 0);
  return logs;
}

TEST(Machine, NativeRootIsALocalCopyBehindTheUploadAndSelfImportIsNot) {
  const auto before = run(false);
  EXPECT_THAT(before[0], HasSubstr("DtoD 16777216"));
  EXPECT_THAT(before[0], HasSubstr("serialized"));
  EXPECT_THAT(before[1], HasSubstr("PtoP 16777216"));
  EXPECT_THAT(before[1], HasSubstr("overlapped"));
  for (const std::string& log : run(true)) {
    EXPECT_THAT(log, HasSubstr("PtoP 16777216"));
    EXPECT_THAT(log, Not(HasSubstr("DtoD")));
    EXPECT_THAT(log, HasSubstr("overlapped"));
  }
}

TEST(Machine, TwoRunsAreTheSameOnAnyLoad) {
  const auto first = run(true);
  ASSERT_THAT(first[0], HasSubstr("now"));
  // Something else wants both cores.
  test::Child noise([](test::Line&) {
    for (;;) {
    }
  });
  test::Child more([](test::Line&) {
    for (;;) {
    }
  });
  for (int i = 0; i < 5; ++i) ASSERT_EQ(run(true), first) << "run " << i;
}

}  // namespace
}  // namespace symmcts::platform

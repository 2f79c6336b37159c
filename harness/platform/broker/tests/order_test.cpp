// What moves a machine on which every process waits: grants, words, deadlines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "harness/platform/broker/tests/order_machine.hpp"

namespace symmcts::platform::test {
namespace {

using ::testing::ElementsAre;

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

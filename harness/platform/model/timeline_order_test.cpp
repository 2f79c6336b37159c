// Order between streams, memory words, and work that is added late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/timeline_world.hpp"

namespace symmcts::platform {
namespace {

TEST(Order, EqualTimesAreBrokenByTheOrderOfTheCalls) {
  Runner r(load("hgx-h200"));
  for (int i = 0; i < 3; ++i) r.timeline.marker(13 + i, 100);
  const OpPtr b = r.timeline.copy(16, 50, CopyClass::peer, kMiB);
  const OpPtr a = r.timeline.copy(13, 50, CopyClass::peer, kMiB);
  EXPECT_THAT(r.run(), ::testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_LT(b->end, a->start);
}

TEST(Order, MarkersCarryOrderBetweenStreams) {
  Runner r(load("hgx-h200"));
  const OpPtr copy = r.timeline.copy(13, 0, CopyClass::peer, 64 * kMiB);
  const OpPtr record = r.timeline.marker(13, 0);
  const OpPtr wait = r.timeline.marker(14, 5, record);
  const OpPtr behind = r.timeline.copy(14, 5, CopyClass::htod, kMiB);
  r.run();
  EXPECT_EQ(record->end, copy->end);
  EXPECT_EQ(wait->end, copy->end);
  EXPECT_EQ(behind->start, copy->end);
  // Of something that is done already.
  const OpPtr late = r.timeline.marker(15, 1, record);
  r.run();
  EXPECT_EQ(late->end, copy->end);
}

TEST(Order, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  Runner r(load("hgx-h200"), 1);  // 13 is non-blocking
  r.timeline.add_stream(7, 0, true, false);
  r.timeline.add_stream(20, 0, false, false);
  r.timeline.add_stream(21, 0, false, false);
  r.timeline.add_stream(22, 1, false, false);  // another device
  const OpPtr blocking = r.timeline.copy(20, 0, CopyClass::htod, 64 * kMiB);
  const OpPtr legacy = r.timeline.copy(7, 0, CopyClass::peer, kMiB);
  const OpPtr after = r.timeline.copy(21, 0, CopyClass::dtoh, kMiB);
  const OpPtr exempt = r.timeline.copy(13, 0, CopyClass::dtod, kMiB);
  const OpPtr elsewhere = r.timeline.copy(22, 0, CopyClass::peer, kMiB);
  r.run();
  EXPECT_EQ(legacy->start, blocking->end);
  EXPECT_EQ(after->start, legacy->end);
  EXPECT_EQ(exempt->start, 0u);
  EXPECT_EQ(elsewhere->start, 0u);
}

// cuda.h:cuStreamDestroy, cuCtxSynchronize: the work of a stream that is gone is work of the
// device, and of the blocking streams that the legacy one waits for, whether or not it was done by
// then.
TEST(Order, WorkOfStreamsThatAreGoneIsStillWaitedFor) {
  for (const bool done : {true, false}) {
    Runner r(load("hgx-h200"), 1);
    r.timeline.add_stream(7, 0, true, false);
    r.timeline.add_stream(20, 0, false, false);
    r.timeline.add_stream(21, 0, false, false);
    const OpPtr copy = r.timeline.copy(20, 0, CopyClass::htod, kMiB);
    if (done) r.run();
    r.timeline.remove_stream(20, done ? copy->end + 1 : 1);
    r.timeline.remove_stream(21, done ? copy->end + 2 : 2);  // what is over goes when another does
    r.run();
    const OpPtr legacy = r.timeline.copy(7, 2 * copy->end, CopyClass::dtoh, kMiB);
    EXPECT_THAT(legacy->after, ::testing::Contains(copy->id)) << done;
    EXPECT_THAT(r.timeline.last_of_device(0), ::testing::Contains(copy)) << done;
  }
}

TEST(Words, WriteLandsAfterItsTime) {
  Profile p = load("hgx-h200");
  const Ns cost = p.word_write_ns.value;
  Runner r(std::move(p));
  const OpPtr copy = r.timeline.copy(13, 0, CopyClass::peer, kMiB);
  const OpPtr write = r.timeline.write_word(13, 0);
  r.run();
  EXPECT_EQ(write->end, copy->end + cost);
}

TEST(Words, AWaitThatWasSatisfiedBeforeTakesNoTime) {
  Runner r(load("hgx-h200"));
  const OpPtr wait = r.timeline.wait_word(13, 700);
  r.run();
  r.timeline.resolve(wait, 100);
  r.timeline.resolve(wait, 9999);  // a second answer changes nothing
  r.run();
  EXPECT_EQ(wait->end, 700u);
}

// Where nothing orders the hosts, work can be added that is earlier than what has run: it must
// still overlap what it would have overlapped.
TEST(Late, ACopyAddedLateTakesTheIdleTimeOfItsEngine) {
  Runner r(load("hgx-h200"));
  const OpPtr up = r.timeline.copy(13, 0, CopyClass::htod, 256 * kMiB);
  const OpPtr far = r.timeline.copy(13, 0, CopyClass::peer, 64 * kMiB);  // behind the upload
  r.run();
  const OpPtr late = r.timeline.copy(14, 1000, CopyClass::peer, 64 * kMiB);
  r.run();
  EXPECT_EQ(late->start, 1000u);
  EXPECT_LT(late->end, up->end);
  // No room before `far`: behind it.
  const OpPtr large = r.timeline.copy(14, 1000, CopyClass::peer, 4096 * kMiB);
  r.run();
  EXPECT_EQ(large->start, far->end + 2500);
}

TEST(Late, ForgettingKeepsTheGapAfterTheLastCopy) {
  Runner r(load("hgx-h200"));
  const OpPtr a = r.timeline.copy(13, 0, CopyClass::dtod, kMiB);
  r.run();
  r.timeline.forget_before(a->end + 1);
  const OpPtr b = r.timeline.copy(14, a->end + 1, CopyClass::dtod, kMiB);
  r.run();
  EXPECT_EQ(b->start, a->end + 30000);
}

}  // namespace
}  // namespace symmcts::platform

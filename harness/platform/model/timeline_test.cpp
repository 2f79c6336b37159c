// The scheduler against what two H200s did (concurrency matrix and host-traffic runs, in µs) and
// against public reports of queueing.
#include "harness/platform/model/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Profile load(const std::string& name, const std::string& dtod_engine = "htod") {
  std::ifstream in(std::string(SYMMCTS_PLATFORM_FIXTURES) + "/" + name + ".toml");
  std::stringstream text;
  text << in.rdbuf();
  std::string toml = text.str();
  const std::string key = "dtod_engine = { value = \"";
  const auto at = toml.find(key) + key.size();
  toml.replace(at, toml.find('"', at) - at, dtod_engine);
  auto profile = parse_profile(toml, name);
  EXPECT_TRUE(profile) << (profile ? "" : profile.error());
  return profile.value();
}

// A timeline with non-blocking streams 13.. on device 0, run to its end.
class Runner {
 public:
  explicit Runner(Profile profile, int streams = 4) : profile_(std::move(profile)) {
    for (int i = 0; i < streams; ++i) timeline.add_stream(13 + i, 0, false, true);
  }
  // Runs until nothing is left but unresolved waits; returns what completed, in order.
  std::vector<std::uint64_t> run() {
    std::vector<std::uint64_t> ids;
    while (timeline.next() != kNever) {
      const auto h = timeline.step();
      if (h && h->kind == Happening::Kind::completed) ids.push_back(h->op->id);
    }
    return ids;
  }

 private:
  Profile profile_;

 public:
  Timeline timeline{profile_};
};

// Microseconds within 10 %, or within `slack` of a short time.
void expect_us(Ns actual, double us, double slack = 0) {
  EXPECT_NEAR(static_cast<double>(actual) / 1000.0, us, std::max(us * 0.1, slack));
}

// 2xH2D: [HtoD 0..2451] [HtoD 2454..4887], 2xD2H: [0..2435] [2438..4866], 128 MiB each.
TEST(OverlapMatrix, TwoTransfersOfOneDirectionQueue) {
  for (const CopyClass c : {CopyClass::htod, CopyClass::dtoh}) {
    Runner r(load("hgx-h200"));
    const OpPtr a = r.timeline.copy(13, 0, c, 128 * kMiB),
                b = r.timeline.copy(14, 0, c, 128 * kMiB);
    r.run();
    expect_us(a->end, 2435);
    EXPECT_EQ(b->start - a->end, 3000u);
    expect_us(b->end, 4866);
  }
}

// 2xPtoP write: [0..341] [344..685]; PtoP write+read: [0..341] [343..726]: one engine for both.
TEST(OverlapMatrix, PeerCopiesShareOneEngine) {
  Runner r(load("hgx-h200"));
  const OpPtr a = r.timeline.copy(13, 0, CopyClass::peer, 128 * kMiB);
  const OpPtr b = r.timeline.copy(14, 0, CopyClass::peer, 128 * kMiB);
  r.run();
  expect_us(a->end, 341);
  EXPECT_GE(b->start, a->end + 2000);
  EXPECT_LE(b->start, a->end + 3000);
  expect_us(b->end, 685);
}

// 2xDtoD: [0..64] [90..153] and [0..63] [98..162].
TEST(OverlapMatrix, LocalCopiesOfTwoStreamsLeaveALongGap) {
  Runner r(load("hgx-h200"));
  const OpPtr a = r.timeline.copy(13, 0, CopyClass::dtod, 128 * kMiB);
  const OpPtr b = r.timeline.copy(14, 0, CopyClass::dtod, 128 * kMiB);
  r.run();
  expect_us(a->end, 63.5);
  EXPECT_GE(b->start, a->end + 26000);
  EXPECT_LE(b->start, a->end + 35000);
  expect_us(b->end, 157.5);
}

// H2D + 4xPtoP: [HtoD 0..4923] [PtoP 75..248] [255..430] [437..612] [619..794].
TEST(OverlapMatrix, PeerWritesOverlapAnUpload) {
  Runner r(load("hgx-h200"));
  const OpPtr up = r.timeline.copy(13, 0, CopyClass::htod, 256 * kMiB);
  std::vector<OpPtr> writes;
  for (int i = 0; i < 4; ++i) {
    writes.push_back(r.timeline.copy(14, 75000, CopyClass::peer, 64 * kMiB));
  }
  r.run();
  expect_us(up->end, 4923);
  const double ends[] = {248, 430, 612, 794};
  for (int i = 0; i < 4; ++i) expect_us(writes[i]->end, ends[i]);
  EXPECT_EQ(writes[0]->start, 75000u);
}

// H2D||write 1_plain: HtoD 512 MiB 0..9718, DtoD 256 MiB 68.1..196.9 and 198.8..326.7.
TEST(OverlapMatrix, LocalCopiesRideTheComputeChannelBesideAnUpload) {
  Runner r(load("hgx-h200"));
  const OpPtr up = r.timeline.copy(13, 0, CopyClass::htod, 512 * kMiB);
  const OpPtr first = r.timeline.copy(14, 68100, CopyClass::dtod, 256 * kMiB);
  const OpPtr second = r.timeline.copy(14, 68100, CopyClass::dtod, 256 * kMiB);
  r.run();
  expect_us(up->end, 9718);
  EXPECT_EQ(first->start, 68100u);
  expect_us(first->end, 196.9);
  expect_us(second->start, 198.8);
  expect_us(second->end, 326.7);
}

// H2D+D2H, 256 MiB each: HtoD 5361..6196 µs (median 5.63 ms), DtoH 60.0..5264.6.
TEST(OverlapMatrix, BothDirectionsTogetherAreSlower) {
  Runner r(load("hgx-h200"));
  const OpPtr up = r.timeline.copy(13, 0, CopyClass::htod, 256 * kMiB);
  const OpPtr down = r.timeline.copy(14, 60000, CopyClass::dtoh, 256 * kMiB);
  r.run();
  EXPECT_GE(up->end, 5361000u);
  EXPECT_LE(up->end, 6197000u);
  expect_us(down->end - down->start, 5204.6);
  // The upload outlives the download and is faster again once that has ended.
  const auto alone = static_cast<double>(load("hgx-h200").duration(CopyClass::htod, 256 * kMiB));
  const double slow = static_cast<double>(down->end - down->start);
  const double fast = static_cast<double>(up->end) - slow;
  EXPECT_NEAR(slow / 1.17 + fast, alone, 10.0);
}

// cudf#15620: 51 kB upload on another stream waited about 12 ms behind a 200 MB upload. The rate of
// that machine is unknown (200 MB in 12 ms is 16.7 GB/s); the queueing is what counts.
TEST(Queueing, SmallUploadWaitsBehindALargeOneOfAnotherStream) {
  Runner r(load("hgx-h200"));
  const OpPtr large = r.timeline.copy(13, 0, CopyClass::htod, 200'000'000);
  const OpPtr small = r.timeline.copy(14, 1000, CopyClass::htod, 51'000);
  r.run();
  EXPECT_EQ(small->start, large->end + 3000);
}

// Uploads of 256 B rode the compute channel: they do not wait behind a large one.
TEST(Queueing, TinyUploadDoesNot) {
  Runner r(load("hgx-h200"));
  r.timeline.copy(13, 0, CopyClass::htod, 200'000'000);
  const OpPtr tiny = r.timeline.copy(14, 1000, CopyClass::small_htod, 256);
  r.run();
  EXPECT_EQ(tiny->start, 1000u);
  EXPECT_EQ(tiny->end, 1000u + 1090u);
}

// pytorch#192530: a native root's write queues behind host transfers, everybody else's does not.
TEST(Queueing, NativeMulticastWriteQueuesBehindTheDirectionOfTheSetting) {
  for (const auto& [setting, host] :
       {std::pair{"htod", CopyClass::htod}, std::pair{"dtoh", CopyClass::dtoh}}) {
    Runner r(load("gb200-nvl2", setting));
    const OpPtr transfer = r.timeline.copy(13, 0, host, 256 * kMiB);
    const OpPtr native = r.timeline.copy(14, 5000, CopyClass::multicast_native, 64 * kMiB);
    const OpPtr imported = r.timeline.copy(15, 5000, CopyClass::peer, 64 * kMiB);
    r.run();
    EXPECT_EQ(native->start, transfer->end + 3000) << setting;
    EXPECT_EQ(imported->start, 5000u) << setting;
  }
}

TEST(Queueing, NativeMulticastWriteDoesNotQueueBehindTheOtherDirection) {
  for (const auto& [setting, other] :
       {std::pair{"htod", CopyClass::dtoh}, std::pair{"dtoh", CopyClass::htod}}) {
    Runner r(load("gb200-nvl2", setting));
    r.timeline.copy(13, 0, other, 256 * kMiB);
    const OpPtr native = r.timeline.copy(14, 5000, CopyClass::multicast_native, 64 * kMiB);
    r.run();
    EXPECT_EQ(native->start, 5000u) << setting;
  }
}

TEST(Queueing, EitherTakesTheEngineThatIsFreeFirst) {
  {
    Runner r(load("gb200-nvl2", "either"));
    r.timeline.copy(13, 0, CopyClass::htod, 256 * kMiB);
    const OpPtr native = r.timeline.copy(14, 5000, CopyClass::multicast_native, 64 * kMiB);
    r.run();
    EXPECT_EQ(native->start, 5000u);
  }
  Runner r(load("gb200-nvl2", "either"));
  const OpPtr up = r.timeline.copy(13, 0, CopyClass::htod, 256 * kMiB);
  const OpPtr down = r.timeline.copy(14, 0, CopyClass::dtoh, 512 * kMiB);
  const OpPtr native = r.timeline.copy(15, 5000, CopyClass::multicast_native, 64 * kMiB);
  r.run();
  EXPECT_LT(up->end, down->end);
  EXPECT_EQ(native->start, up->end + 3000);
}

// An engine serves by ready time: a copy whose stream waits for a word keeps nobody behind it.
TEST(Queueing, ABlockedStreamDoesNotHoldTheEngine) {
  Runner r(load("hgx-h200"));
  const OpPtr wait = r.timeline.wait_word(13, 0);
  const OpPtr blocked = r.timeline.copy(13, 0, CopyClass::htod, kMiB);
  const OpPtr other = r.timeline.copy(14, 10, CopyClass::htod, kMiB);
  r.run();
  EXPECT_EQ(r.timeline.earliest_wait(), 0u);
  EXPECT_TRUE(other->done);
  EXPECT_EQ(other->start, 10u);
  EXPECT_FALSE(blocked->done);
  r.timeline.resolve(wait, 500'000);
  EXPECT_EQ(r.timeline.earliest_wait(), kNever);
  r.run();
  EXPECT_EQ(wait->end, 500'000u);
  EXPECT_EQ(blocked->start, 500'000u);
}

TEST(Queueing, FirstReadyIsFirstServedWhateverTheOrderOfTheCalls) {
  Runner r(load("hgx-h200"));
  const OpPtr before = r.timeline.copy(13, 0, CopyClass::peer, 64 * kMiB);
  const OpPtr upload = r.timeline.copy(14, 0, CopyClass::htod, kMiB);
  const OpPtr later = r.timeline.copy(14, 0, CopyClass::peer, kMiB);  // ready after the upload
  const OpPtr sooner = r.timeline.copy(15, 10, CopyClass::peer, kMiB);
  r.run();
  EXPECT_GT(later->ready, sooner->ready);
  EXPECT_EQ(sooner->start, before->end + 2500);
  EXPECT_GT(later->start, sooner->end);
  EXPECT_LT(upload->end, before->end);
}

TEST(Queueing, DevicesDoNotShareEngines) {
  Runner r(load("hgx-h200"));
  r.timeline.add_stream(40, 1, false, true);
  const OpPtr a = r.timeline.copy(13, 0, CopyClass::htod, kMiB);
  const OpPtr b = r.timeline.copy(40, 0, CopyClass::htod, kMiB);
  r.run();
  EXPECT_EQ(a->end, b->end);
}

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

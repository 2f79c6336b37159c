// What one rank sees of its streams: copies, fills, events, queries, faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness/platform/process/streams_world.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(OneRank, StreamsAreNumberedAsInRealTraces) {
  EXPECT_EQ(streams.default_stream(0), 7u);
  EXPECT_EQ(streams.create(0, true), 13u);
  EXPECT_EQ(streams.create(0, false), 14u);
  EXPECT_EQ(streams.default_stream(0), 7u);
  EXPECT_NE(streams.default_stream(1), 7u);
  EXPECT_EQ(streams.device_of(13), 0);
  EXPECT_EQ(streams.destroy(13), Code::success);
  EXPECT_FALSE(streams.known(13));
  EXPECT_EQ(streams.synchronize(13), Code::invalid_handle);
  EXPECT_EQ(streams.destroy(13), Code::invalid_handle);
}

TEST_F(OneRank, SynchronizeJoinsTheClockAndMovesTheBytes) {
  const StreamId s = streams.create(0, true);
  broker.bytes[FakeMemory::kPinned] = 42;
  streams.advance_to(1000);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 5, true), Code::success);
  EXPECT_EQ(streams.now(), 1000u);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  const Ns length = profile().duration(CopyClass::htod, kMiB);
  EXPECT_EQ(streams.now(), 1000 + length);
  EXPECT_EQ(broker.word(device), 42u);
  const auto copies = rank.sink.copies();
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].kind, CopyKind::htod);
  EXPECT_EQ(copies[0].source_kind, MemoryKind::pinned);
  EXPECT_EQ(copies[0].correlation, 5u);
  EXPECT_EQ(copies[0].stream, s);
  EXPECT_EQ(copies[0].start, 1000u);
  EXPECT_EQ(copies[0].end, 1000 + length);
  EXPECT_EQ(copies[0].channel, 8u);
  EXPECT_EQ(copies[0].channel_type, 2u);
}

TEST_F(OneRank, BytesMoveAtTheEndAndNotBefore) {
  const StreamId s = streams.create(0, true);
  broker.bytes[FakeMemory::kPinned] = 1;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  const Ns end = profile().duration(CopyClass::htod, kMiB);
  streams.advance_to(end);  // more could still be enqueued at this very time
  EXPECT_EQ(broker.word(device), 0u);
  streams.advance_to(end + 1);
  EXPECT_EQ(broker.word(device), 1u);
}

// The kinds of pytorch#192530 and torchcomms#3498: native multicast on ordinal 0 shows as DtoD.
// facts A12.3, A12.4, A12.6, A12.8, A14.6, A16.7
TEST_F(OneRank, KindsFollowProvenanceAndDevice) {
  const StreamId s = streams.create(0, true);
  const std::uint64_t pinned = FakeMemory::kPinned;
  std::uint32_t correlation = 0;
  for (const auto& [to, from] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{device, pinned},
                                                            {pinned, device},
                                                            {device + kMiB, device},
                                                            {peer, device},
                                                            {device, peer},
                                                            {FakeMemory::kNative, device},
                                                            {FakeMemory::kNative, peer},
                                                            {FakeMemory::kImported, device}}) {
    ASSERT_EQ(streams.copy(s, to, from, 4096, ++correlation, true), Code::success);
  }
  ASSERT_EQ(streams.synchronize(s), Code::success);
  std::vector<CopyKind> kinds;
  for (const auto& copy : rank.sink.copies()) kinds.push_back(copy.kind);
  EXPECT_THAT(kinds, ElementsAre(CopyKind::htod, CopyKind::dtoh, CopyKind::dtod, CopyKind::ptop,
                                 CopyKind::ptop, CopyKind::dtod, CopyKind::ptop, CopyKind::ptop));
  const auto copies = rank.sink.copies();
  EXPECT_EQ(copies[3].source_device, 0);
  EXPECT_EQ(copies[3].destination_device, 1);
  EXPECT_EQ(copies[4].source_device, 1);
}

TEST_F(OneRank, ChannelsFollowTheStream) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  for (const StreamId s : {a, b, a}) {
    ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
    ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 256, 1, true), Code::success);
  }
  ASSERT_EQ(streams.synchronize_device(0), Code::success);
  std::map<std::pair<StreamId, std::uint64_t>, std::set<std::pair<unsigned, unsigned>>> seen;
  for (const auto& c : rank.sink.copies()) {
    seen[{c.stream, c.bytes}].insert({c.channel, c.channel_type});
  }
  using Channels = std::set<std::pair<unsigned, unsigned>>;
  EXPECT_EQ((seen[{a, kMiB}]), (Channels{{8, 2}}));
  EXPECT_EQ((seen[{b, kMiB}]), (Channels{{9, 2}}));
  EXPECT_EQ((seen[{a, 256}]), (Channels{{1, 1}}));  // small uploads ride the compute channel
  EXPECT_EQ((seen[{b, 256}]), (Channels{{2, 1}}));
}

// Measured (fixtures/oracles/h200-x2/copy-paths.txt): 64 KiB from pageable memory ride the compute
// channel, on channel 0 from the default stream, 65540 B do not; from pinned memory 1024 B do and
// 2 KiB may not.
TEST_F(OneRank, SmallUploadsRideTheComputeChannel) {
  const StreamId first = streams.default_stream(0), s = streams.create(0, true);
  std::vector<std::uint8_t> pageable(65540, 7);
  const auto at = reinterpret_cast<std::uintptr_t>(pageable.data());
  ASSERT_EQ(streams.copy(first, device, at, 65536, 1, false), Code::success);
  ASSERT_EQ(streams.synchronize(first), Code::success);
  ASSERT_EQ(streams.copy(s, device, at, 65536, 1, true), Code::success);
  ASSERT_EQ(streams.copy(s, device, at, 65540, 1, true), Code::success);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 1024, 1, true), Code::success);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 2048, 1, true), Code::success);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  std::vector<std::pair<unsigned, unsigned>> channels;
  for (const auto& c : rank.sink.copies()) channels.emplace_back(c.channel_type, c.channel);
  using Channel = std::pair<unsigned, unsigned>;
  EXPECT_THAT(channels, ElementsAre(Channel{1, 0}, Channel{1, 1}, Channel{2, 8}, Channel{1, 1},
                                    Channel{2, 8}));
}

TEST_F(OneRank, PageableSourceIsReadAtTheCall) {
  const StreamId s = streams.create(0, true);
  std::vector<std::uint8_t> source(4096, 7);
  ASSERT_EQ(streams.copy(s, device, reinterpret_cast<std::uintptr_t>(source.data()), 4096, 1, true),
            Code::success);
  source.assign(4096, 9);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(broker.word(device), 0x07070707u);
}

TEST_F(OneRank, DownloadToPageableMemoryIsDoneAtTheReturn) {
  const StreamId s = streams.create(0, true);
  broker.bytes[device] = 5;
  std::vector<std::uint8_t> target(4096, 0);
  ASSERT_EQ(streams.copy(s, reinterpret_cast<std::uintptr_t>(target.data()), device, 4096, 1, true),
            Code::success);
  EXPECT_EQ(target[0], 5);
  EXPECT_GT(streams.now(), 0u);
}

TEST_F(OneRank, FillsAreRecorded) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.fill(s, {device, 0xab, 1, 4096}, 3, true), Code::success);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(broker.word(device), 0xababababu);
  const auto fills = rank.sink.fills();
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills[0].bytes, 4096u);
  EXPECT_GT(fills[0].end, fills[0].start);
}

TEST_F(OneRank, QueriesCostTimeAndEnd) {
  const StreamId s = streams.create(0, true);
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, 64 * kMiB, 1, true), Code::success);
  const Ns end = profile().duration(CopyClass::htod, 64 * kMiB);
  Ns polls = 0;
  while (streams.query(s) == Code::not_ready) ++polls;
  EXPECT_EQ(polls, end / profile().call_cost("poll"));
  EXPECT_GT(streams.now(), end);
  EXPECT_EQ(broker.moves.size(), 0u);  // nobody had to be asked
}

TEST_F(OneRank, EventsOrderAndMeasure) {
  const StreamId a = streams.create(0, true), b = streams.create(0, true);
  const EventId before = streams.create_event(true), after = streams.create_event(true);
  EXPECT_EQ(streams.query_event(after), Code::success);  // never recorded
  float ms = 0;
  EXPECT_EQ(streams.elapsed(before, after, ms), Code::invalid_handle);
  ASSERT_EQ(streams.record(before, a), Code::success);
  ASSERT_EQ(streams.copy(a, device, FakeMemory::kPinned, 64 * kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.record(after, a), Code::success);
  EXPECT_EQ(streams.elapsed(before, after, ms), Code::not_ready);
  EXPECT_EQ(streams.query_event(after), Code::not_ready);
  ASSERT_EQ(streams.wait_event(b, after), Code::success);
  ASSERT_EQ(streams.copy(b, peer, device, kMiB, 2, true), Code::success);
  ASSERT_EQ(streams.synchronize_event(after), Code::success);
  ASSERT_EQ(streams.elapsed(before, after, ms), Code::success);
  EXPECT_FLOAT_EQ(ms, static_cast<float>(profile().duration(CopyClass::htod, 64 * kMiB)) / 1e6f);
  ASSERT_EQ(streams.synchronize(b), Code::success);
  const auto copies = rank.sink.copies();
  EXPECT_EQ(copies[1].start, copies[0].end);
  EXPECT_EQ(streams.destroy_event(after), Code::success);
  EXPECT_EQ(streams.synchronize_event(after), Code::invalid_handle);
}

TEST_F(OneRank, HostFunctionsRunInOrder) {
  const StreamId s = streams.create(0, true);
  std::uint32_t seen = 0;
  broker.bytes[FakeMemory::kPinned] = 3;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  ASSERT_EQ(streams.host_function(s, [&] { seen = broker.word(device); }), Code::success);
  ASSERT_EQ(streams.synchronize(s), Code::success);
  EXPECT_EQ(seen, 3u);
}

TEST_F(OneRank, AFaultSticksAndNothingHangs) {
  const StreamId s = streams.create(0, true);
  rank.memory.fail_with = Code::illegal_address;
  ASSERT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::success);
  EXPECT_EQ(streams.synchronize(s), Code::illegal_address);
  EXPECT_EQ(streams.sticky_error(), Code::illegal_address);
  EXPECT_EQ(streams.copy(s, device, FakeMemory::kPinned, kMiB, 1, true), Code::illegal_address);
  EXPECT_THAT(rank.sink.copies(), IsEmpty());
}

TEST_F(OneRank, WaitsOnWhatCannotBeWatchedAreRefused) {
  const StreamId s = streams.create(0, true);
  EXPECT_EQ(streams.wait_value(s, FakeMemory::kNative, 1, 4, WordTest::eq), Code::invalid_value);
  EXPECT_EQ(streams.wait_value(s, FakeMemory::kPinned, 1, 4, WordTest::eq), Code::not_supported);
}

}  // namespace
}  // namespace symmcts::platform

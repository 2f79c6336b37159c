// libcupti.so.13: activity records.
#include <algorithm>

#include "harness/platform/abi/tests/cupti_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

// Measured on CUDA 13.0 (copy-records.txt): MEMCPY alone gives a peer copy as a MEMCPY2 record.
TEST_F(Cupti, RecordsWithMemcpyAlone) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  some_work();
  ASSERT_EQ(copies.size(), 3U);
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_TRUE(fills.empty());
  const int kinds[] = {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
                       CUPTI_ACTIVITY_MEMCPY_KIND_DTOH};
  std::uint32_t context_id = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(0), &context_id));
  std::uint64_t last_end = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& copy = copies[i];
    EXPECT_EQ(copy.copyKind, kinds[i]);
    EXPECT_EQ(copy.bytes, 64U * 1024);
    EXPECT_EQ(copy.flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
    EXPECT_LT(copy.start, copy.end);
    EXPECT_GE(copy.start, last_end) << "one stream, one after the other";
    last_end = copy.end;
    EXPECT_EQ(copy.deviceId, 0U);
    EXPECT_EQ(copy.streamId, stream_id_);
    EXPECT_EQ(copy.contextId, context_id);
    EXPECT_EQ(copy.copyCount, 1U);
    EXPECT_EQ(copy.graphId, 0U);
  }
  EXPECT_EQ(copies[0].srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  EXPECT_EQ(copies[0].dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(peers[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  EXPECT_EQ(peers[0].srcDeviceId, 0U);
  EXPECT_EQ(peers[0].dstDeviceId, 1U);
  EXPECT_EQ(peers[0].channelType, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
  EXPECT_EQ(peers[0].streamId, stream_id_);
}

TEST_F(Cupti, RecordsWithMemcpy2AloneAndTogether) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY2));
  some_work();
  EXPECT_TRUE(copies.empty());
  EXPECT_TRUE(peers.empty()) << "pytorch#188211";
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMSET));
  some_work();
  EXPECT_EQ(copies.size(), 3U);
  EXPECT_EQ(peers.size(), 1U) << "once, though both kinds are enabled";
  ASSERT_EQ(fills.size(), 1U);
  EXPECT_EQ(fills[0].value, 7U);
  EXPECT_EQ(fills[0].bytes, 64U);
  EXPECT_EQ(fills[0].memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
}

TEST_F(Cupti, RecordsCarryTheCallsCorrelation) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_DRIVER));
  EXPECT_CUPTI(CUPTI(cuptiEnableDomain)(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API));
  some_work();
  ASSERT_EQ(peers.size(), 1U);
  const auto call = std::find_if(calls.begin(), calls.end(), [](const CUpti_ActivityAPI& api) {
    return api.correlationId == peers[0].correlationId;
  });
  ASSERT_NE(call, calls.end());
  EXPECT_EQ(call->cbid, static_cast<unsigned>(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2));
  EXPECT_LT(call->start, call->end);
  EXPECT_LE(call->end, peers[0].start) << "work starts after its submission";
  const auto callback = std::find_if(seen.begin(), seen.end(), [](const Seen& each) {
    return each.correlation == peers[0].correlationId && each.site == CUPTI_API_ENTER;
  });
  ASSERT_NE(callback, seen.end());
  EXPECT_EQ(callback->destination, written_[1]);
  EXPECT_EQ(call->start, callback->time);
}

TEST_F(Cupti, SomeDriverCallsAlone) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnableDriverApi)(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, 1));
  some_work();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].cbid, static_cast<unsigned>(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

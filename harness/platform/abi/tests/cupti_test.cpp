// libcupti.so.13: subscribing, callbacks, activity records.
#include <algorithm>
#include <thread>

#include "harness/platform/abi/tests/cupti_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

struct Seen {
  CUpti_CallbackId cbid = 0;
  CUpti_ApiCallbackSite site{};
  std::string name;
  std::uint32_t correlation = 0;
  std::uint64_t carried = 0;
  CUresult result = CUDA_ERROR_UNKNOWN;
  CUdeviceptr destination = 0;
  CUcontext context = nullptr;
  std::uint64_t time = 0;
};
std::vector<Seen> seen;

void CUPTIAPI on_callback(void* userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                          const void* raw) {
  const auto& data = *static_cast<const CUpti_CallbackData*>(raw);
  EXPECT_EQ(userdata, &seen);
  EXPECT_EQ(domain, CUPTI_CB_DOMAIN_DRIVER_API);
  Seen now;
  now.cbid = cbid;
  now.site = data.callbackSite;
  now.name = data.functionName;
  now.correlation = data.correlationId;
  now.context = data.context;
  EXPECT_CUPTI(CUPTI(cuptiGetTimestamp)(&now.time));
  if (data.callbackSite == CUPTI_API_ENTER) *data.correlationData = 1000 + data.correlationId;
  now.carried = *data.correlationData;
  if (data.callbackSite == CUPTI_API_EXIT) {
    now.result = *static_cast<const CUresult*>(data.functionReturnValue);
  }
  if (cbid == CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2) {
    now.destination =
        static_cast<const cuMemcpyDtoDAsync_v2_params*>(data.functionParams)->dstDevice;
  }
  // A driver call from a callback raises no callback and costs no time.
  CUdevice device = -1;
  CU(cuCtxGetDevice)(&device);
  std::uint64_t later = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetTimestamp)(&later));
  EXPECT_EQ(later, now.time);
  seen.push_back(now);
}

// Buffers of 256 bytes: room for two records, so that filling up is exercised.
std::mutex records_mutex;
std::vector<CUpti_ActivityMemcpy6> copies;
std::vector<CUpti_ActivityMemcpyPtoP4> peers;
std::vector<CUpti_ActivityMemset4> fills;
std::vector<CUpti_ActivityAPI> calls;
int outstanding = 0;

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 256;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
  const std::lock_guard lock(records_mutex);
  ++outstanding;
}

void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  std::size_t dropped = 1;
  EXPECT_CUPTI(CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &dropped));
  EXPECT_EQ(dropped, 0U);
  const std::lock_guard lock(records_mutex);
  --outstanding;
  CUpti_Activity* record = nullptr;
  CUptiResult next = CUPTI_SUCCESS;
  while ((next = CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record)) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        copies.push_back(*reinterpret_cast<CUpti_ActivityMemcpy6*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        peers.push_back(*reinterpret_cast<CUpti_ActivityMemcpyPtoP4*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        fills.push_back(*reinterpret_cast<CUpti_ActivityMemset4*>(record));
        break;
      case CUPTI_ACTIVITY_KIND_DRIVER:
        calls.push_back(*reinterpret_cast<CUpti_ActivityAPI*>(record));
        break;
      default:
        ADD_FAILURE() << "kind " << record->kind;
    }
  }
  EXPECT_EQ(next, CUPTI_ERROR_MAX_LIMIT_REACHED);
  std::free(buffer);
}

class Cupti : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    seen.clear();
    copies.clear();
    peers.clear();
    fills.clear();
    calls.clear();
    EXPECT_CUPTI(CUPTI(cuptiSubscribe)(&subscriber_, on_callback, &seen));
    EXPECT_CUPTI(CUPTI(cuptiActivityRegisterCallbacks)(on_request, on_complete));
  }
  void TearDown() override {
    EXPECT_CUPTI(CUPTI(cuptiFinalize)());
    EXPECT_EQ(outstanding, 0) << "every buffer has come back";
    World::TearDown();
  }

  // A copy of each kind: host to device, in the device, to the peer, device to host.
  void some_work() {
    const std::size_t bytes = 64 * 1024;
    const CUdeviceptr here = alloc(bytes), also = alloc(bytes);
    const auto handle = create(1, 0);
    const CUdeviceptr there = map(handle, {0});
    void* pinned = nullptr;
    EXPECT_CU(CU(cuMemHostAlloc)(&pinned, bytes, 0));
    CUstream stream = nullptr;
    EXPECT_CU(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_CUPTI(CUPTI(cuptiGetStreamIdEx)(nullptr, stream, 0, &stream_id_));
    EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(here, pinned, bytes, stream));
    EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(also, here, bytes, stream));
    EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(there, here, bytes, stream));
    EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(pinned, here, bytes, stream));
    EXPECT_CU(CU(cuMemsetD32Async)(here, 7, 16, stream));
    EXPECT_CU(CU(cuStreamSynchronize)(stream));
    written_ = {also, there};
    EXPECT_CU(CU(cuStreamDestroy_v2)(stream));
    EXPECT_CU(CU(cuMemFreeHost)(pinned));
    unmap(there);
    EXPECT_CU(CU(cuMemRelease)(handle));
    for (CUdeviceptr block : {here, also}) EXPECT_CU(CU(cuMemFree_v2)(block));
    EXPECT_CUPTI(CUPTI(cuptiActivityFlushAll)(0));
  }

  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::uint32_t stream_id_ = 0;
  std::vector<CUdeviceptr> written_;
};

TEST_F(Cupti, VersionAndNames) {
  std::uint32_t version = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetVersion)(&version));
  EXPECT_EQ(version, static_cast<std::uint32_t>(CUPTI_API_VERSION));
  EXPECT_GE(version, 130000U);
  const char* name = nullptr;
  const auto name_of = CUPTI(cuptiGetCallbackName);
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 706, &name));
  EXPECT_STREQ(name, "cuMulticastCreate");
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 281, &name));
  EXPECT_STREQ(name, "cuMemcpyDtoDAsync_v2");
  EXPECT_CUPTI(name_of(CUPTI_CB_DOMAIN_RUNTIME_API, 41, &name));
  EXPECT_STREQ(name, "cudaMemcpyAsync_v3020");
  EXPECT_EQ(name_of(CUPTI_CB_DOMAIN_DRIVER_API, 100000, &name), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_CUPTI(CUPTI(cuptiGetResultString)(CUPTI_ERROR_INVALID_KIND, &name));
  EXPECT_STREQ(name, "CUPTI_ERROR_INVALID_KIND");
}

TEST_F(Cupti, OneSubscriberAndItsName) {
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(CUPTI(cuptiSubscribe)(&second, on_callback, nullptr),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_CUPTI(CUPTI(cuptiUnsubscribe)(subscriber_));
  EXPECT_EQ(CUPTI(cuptiUnsubscribe)(subscriber_), CUPTI_ERROR_INVALID_PARAMETER);
  CUpti_SubscriberParams params{};
  params.structSize = sizeof params;
  params.subscriberName = "the first";
  EXPECT_CUPTI(CUPTI(cuptiSubscribe_v2)(&second, on_callback, nullptr, &params));
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
  CUpti_SubscriberParams other{};
  other.structSize = sizeof other;
  other.subscriberName = "the other";
  other.oldSubscriberName = holder;
  EXPECT_EQ(CUPTI(cuptiSubscribe_v2)(&second, on_callback, nullptr, &other),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_STREQ(holder, "CUPTI for the first");
}

TEST_F(Cupti, CallbacksComeInPairs) {
  EXPECT_CUPTI(CUPTI(cuptiEnableDomain)(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API));
  some_work();
  CUdevice device = -1;
  EXPECT_EQ(CU(cuDeviceGet)(&device, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUPTI(CUPTI(cuptiEnableDomain)(0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API));
  const std::size_t count = seen.size();
  ASSERT_GT(count, 30U);
  ASSERT_EQ(count % 2, 0U);
  std::vector<CUdeviceptr> destinations;
  for (std::size_t i = 0; i < count; i += 2) {
    const Seen &enter = seen[i], &exit = seen[i + 1];
    EXPECT_EQ(enter.site, CUPTI_API_ENTER) << enter.name;
    EXPECT_EQ(exit.site, CUPTI_API_EXIT) << exit.name;
    EXPECT_EQ(enter.cbid, exit.cbid);
    EXPECT_EQ(enter.correlation, exit.correlation);
    EXPECT_EQ(exit.carried, 1000U + enter.correlation) << "correlationData survives the call";
    EXPECT_GT(exit.time, enter.time) << enter.name << ": each call costs virtual time";
    EXPECT_EQ(exit.context, context(0));
    const char* name = nullptr;
    EXPECT_CUPTI(CUPTI(cuptiGetCallbackName)(CUPTI_CB_DOMAIN_DRIVER_API, enter.cbid, &name));
    EXPECT_EQ(name, enter.name);
    if (enter.destination != 0) destinations.push_back(enter.destination);
    const CUresult expected = i + 2 == count ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
    EXPECT_EQ(exit.result, expected) << enter.name;
  }
  EXPECT_EQ(destinations, written_) << "the parameters are readable in the callback";
  CU(cuDeviceGet)(&device, 0);
  EXPECT_EQ(seen.size(), count) << "switched off";
}

TEST_F(Cupti, OneCallbackAlone) {
  const auto enable = CUPTI(cuptiEnableCallback);
  EXPECT_CUPTI(
      enable(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemCreate));
  std::uint32_t on = 0, off = 1;
  EXPECT_CUPTI(CUPTI(cuptiGetCallbackState)(&on, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemCreate));
  EXPECT_CUPTI(CUPTI(cuptiGetCallbackState)(&off, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                                            CUPTI_DRIVER_TRACE_CBID_cuMemMap));
  EXPECT_EQ(on, 1U);
  EXPECT_EQ(off, 0U);
  some_work();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].name, "cuMemCreate");
  EXPECT_EQ(enable(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, 0), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(enable(1, nullptr, CUPTI_CB_DOMAIN_DRIVER_API, 1), CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(enable(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, 1), CUPTI_ERROR_NOT_SUPPORTED)
      << "accepted and never raised would be a lie";
}

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

TEST_F(Cupti, IdsOfContextsAndDevices) {
  std::uint32_t first = 0, second = 0, device = 9;
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(0), &first));
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(1), &second));
  EXPECT_NE(first, second);
  EXPECT_CUPTI(CUPTI(cuptiGetDeviceId)(context(1), &device));
  EXPECT_EQ(device, 1U);
  EXPECT_EQ(CUPTI(cuptiGetContextId)(reinterpret_cast<CUcontext>(16), &first),
            CUPTI_ERROR_INVALID_CONTEXT);
  std::uint32_t legacy = 0, own = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetStreamId)(context(0), nullptr, &legacy));
  EXPECT_CUPTI(CUPTI(cuptiGetStreamIdEx)(context(0), nullptr, 1, &own));
  EXPECT_NE(legacy, own);
  EXPECT_EQ(legacy, 7U) << "the default stream's id in real traces";
}

TEST_F(Cupti, RefusesWhatIsNotModelled) {
  EXPECT_EQ(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_PCIE), CUPTI_ERROR_INVALID_KIND);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(CUPTI(cuptiActivityFlushPeriod)(10), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(CUPTI(cuptiActivityFlushPeriod)(10), CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "symm-cts platform (CUPTI): cuptiActivityFlushPeriod is not modelled\n");
  std::size_t value = 1 << 20, size = sizeof value, got = 0;
  EXPECT_CUPTI(
      CUPTI(cuptiActivitySetAttribute)(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  EXPECT_CUPTI(
      CUPTI(cuptiActivityGetAttribute)(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &got));
  EXPECT_EQ(got, value);
  EXPECT_EQ(CUPTI(cuptiActivitySetAttribute)(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
                                             &value),
            CUPTI_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace symmcts::platform::abi::test

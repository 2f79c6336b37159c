#pragma once

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "harness/platform/abi/tests/cupti_library.hpp"

namespace symmcts::platform::abi::test {

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
inline std::vector<Seen> seen;

inline void CUPTIAPI on_callback(void* userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
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
inline std::mutex records_mutex;
inline std::vector<CUpti_ActivityMemcpy6> copies;
inline std::vector<CUpti_ActivityMemcpyPtoP4> peers;
inline std::vector<CUpti_ActivityMemset4> fills;
inline std::vector<CUpti_ActivityAPI> calls;
inline int outstanding = 0;

inline void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 256;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
  const std::lock_guard lock(records_mutex);
  ++outstanding;
}

inline void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
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

}  // namespace symmcts::platform::abi::test

// Streams, events, host functions, stream memory operations.
#include <atomic>
#include <thread>

#include <cudaTypedefs.h>

#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class Streams : public World {
 protected:
  static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream out = nullptr;
    EXPECT_CU(CU(cuStreamCreate)(&out, flags));
    return out;
  }
  static CUevent event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent out = nullptr;
    EXPECT_CU(CU(cuEventCreate)(&out, flags));
    return out;
  }
};

TEST_F(Streams, Queries) {
  CUstream made = nullptr;
  EXPECT_CU(CU(cuStreamCreateWithPriority)(&made, CU_STREAM_NON_BLOCKING, -2));
  unsigned flags = 0;
  int priority = 0;
  CUcontext owner = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(1);
  CUdevice device = -1;
  unsigned long long id = 0, other = 0;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_CU(CU(cuStreamGetFlags)(made, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_CU(CU(cuStreamGetPriority)(made, &priority));
  EXPECT_EQ(priority, -2);
  EXPECT_CU(CU(cuStreamGetCtx)(made, &owner));
  EXPECT_EQ(owner, context(0));
  EXPECT_CU(CU(cuStreamGetCtx_v2)(made, &owner, &green));
  EXPECT_EQ(green, nullptr);
  EXPECT_CU(CU(cuStreamGetDevice)(made, &device));
  EXPECT_EQ(device, 0);
  EXPECT_CU(CU(cuStreamGetId)(made, &id));
  EXPECT_CU(CU(cuStreamGetId)(nullptr, &other));
  EXPECT_NE(id, other);
  EXPECT_CU(CU(cuStreamIsCapturing)(made, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_CU(CU(cuStreamGetCaptureInfo_v2)(made, &status, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CU(CU(cuStreamQuery)(made));
  EXPECT_CU(CU(cuStreamDestroy_v2)(made));
  // The real driver may crash on these; a software driver says what is wrong.
  EXPECT_EQ(CU(cuStreamDestroy_v2)(made), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuStreamSynchronize)(made), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuStreamCreate)(&made, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamCreate)(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

// cuda.h:cuStreamDestroy: work that is enqueued still runs; whoever waits for the device waits for
// it.
TEST_F(Streams, ADestroyedStreamFinishesItsWork) {
  const CUdeviceptr block = alloc(64 * kMiB);
  const CUstream gone = stream();
  EXPECT_CU(CU(cuMemsetD8Async)(block, 'd', 64 * kMiB, gone));
  EXPECT_CU(CU(cuMemsetD8Async)(block, 'e', 64 * kMiB, gone));
  EXPECT_CU(CU(cuStreamDestroy_v2)(gone));
  EXPECT_CU(CU(cuCtxSynchronize)());
  EXPECT_EQ(read(block + 64 * kMiB - 4, 4), "eeee");
  EXPECT_CU(CU(cuMemFree_v2)(block));
}

// The per-thread variants and the special handle name the same stream of the thread; another
// thread's is another one.
TEST_F(Streams, PerThreadDefaultStream) {
  // cuda.h declares the variant in no mode; cudaTypedefs.h has its type.
  const auto id_of = find<PFN_cuStreamGetId_v12000_ptsz>("cuStreamGetId_ptsz");
  unsigned long long special = 0, variant = 0, legacy = 0, elsewhere = 0;
  EXPECT_CU(CU(cuStreamGetId)(CU_STREAM_PER_THREAD, &special));
  EXPECT_CU(id_of(nullptr, &variant));
  EXPECT_CU(CU(cuStreamGetId)(nullptr, &legacy));
  const CUcontext current = context(0);
  std::thread([&] {
    EXPECT_CU(CU(cuCtxSetCurrent)(current));
    EXPECT_CU(CU(cuStreamGetId)(CU_STREAM_PER_THREAD, &elsewhere));
  }).join();
  EXPECT_EQ(special, variant);
  EXPECT_NE(special, legacy);
  EXPECT_NE(special, elsewhere);
  EXPECT_CU(id_of(CU_STREAM_LEGACY, &variant));
  EXPECT_EQ(variant, legacy);
}

TEST_F(Streams, EventsMeasureACopy) {
  const CUstream work = stream();
  const CUevent before = event(), after = event(), untimed = event(CU_EVENT_DISABLE_TIMING);
  const CUdeviceptr from = alloc(64 * kMiB), to = alloc(64 * kMiB);
  EXPECT_CU(CU(cuEventQuery)(before)) << "never recorded: complete (cuda.h:cuEventQuery)";
  EXPECT_CU(CU(cuEventRecord)(before, work));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(to, from, 64 * kMiB, work));
  EXPECT_CU(CU(cuEventRecordWithFlags)(after, work, CU_EVENT_RECORD_DEFAULT));
  EXPECT_EQ(CU(cuStreamQuery)(work), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(CU(cuEventQuery)(after), CUDA_ERROR_NOT_READY);
  EXPECT_CU(CU(cuEventSynchronize)(after));
  EXPECT_CU(CU(cuEventQuery)(after));
  float milliseconds = -1, again = -2;
  EXPECT_CU(CU(cuEventElapsedTime)(&milliseconds, before, after));
  EXPECT_CU(CU(cuEventElapsedTime_v2)(&again, before, after));
  EXPECT_EQ(milliseconds, again);
  EXPECT_GT(milliseconds, 0.01F);  // 64 MiB in the device: tens of microseconds, virtual
  EXPECT_LT(milliseconds, 1.0F);
  EXPECT_CU(CU(cuEventRecord)(untimed, work));
  EXPECT_CU(CU(cuStreamSynchronize)(work));
  EXPECT_EQ(CU(cuEventElapsedTime)(&milliseconds, before, untimed), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuEventCreate)(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUevent shared = nullptr;
  EXPECT_EQ(CU(cuEventCreate)(&shared, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
  for (CUevent each : {before, after, untimed}) EXPECT_CU(CU(cuEventDestroy_v2)(each));
  EXPECT_EQ(CU(cuEventDestroy)(after), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CU(cuEventRecord)(after, work), CUDA_ERROR_INVALID_HANDLE);
  for (CUdeviceptr block : {from, to}) EXPECT_CU(CU(cuMemFree_v2)(block));
  EXPECT_CU(CU(cuStreamDestroy)(work));
}

TEST_F(Streams, AnEventOrdersTwoStreams) {
  const CUstream first = stream(), second = stream();
  const CUevent done = event(CU_EVENT_DISABLE_TIMING);
  const CUdeviceptr a = alloc(kMiB), b = alloc(kMiB);
  EXPECT_CU(CU(cuMemsetD8Async)(b, 'x', kMiB, first));
  EXPECT_CU(CU(cuMemsetD8Async)(a, 'y', kMiB, first));
  EXPECT_CU(CU(cuEventRecord)(done, first));
  EXPECT_CU(CU(cuStreamWaitEvent)(second, done, 0));
  EXPECT_CU(CU(cuMemcpyAsync)(b, a, kMiB, second));
  EXPECT_CU(CU(cuStreamSynchronize)(second));
  EXPECT_EQ(read(b, 4), "yyyy");
  EXPECT_EQ(CU(cuStreamWaitEvent)(second, done, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuEventDestroy_v2)(done));
  EXPECT_CU(CU(cuStreamDestroy_v2)(first));
  EXPECT_CU(CU(cuStreamDestroy_v2)(second));
  EXPECT_CU(CU(cuMemFree_v2)(a));
  EXPECT_CU(CU(cuMemFree_v2)(b));
}

std::atomic<int> host_calls{0};
std::atomic<CUresult> nested{CUDA_SUCCESS};

TEST_F(Streams, HostFunctions) {
  const CUstream work = stream();
  host_calls = 0;
  const auto count = [](void* data) {
    host_calls += *static_cast<int*>(data);
    CUdeviceptr address = 0;
    nested = CU(cuMemAlloc_v2)(&address, 16);
  };
  const auto back = [](CUstream, CUresult status, void* data) {
    if (status == CUDA_SUCCESS) host_calls += *static_cast<int*>(data);
  };
  int one = 1, ten = 10;
  EXPECT_CU(CU(cuLaunchHostFunc)(work, count, &one));
  EXPECT_CU(CU(cuStreamAddCallback)(work, back, &ten, 0));
  EXPECT_CU(CU(cuStreamSynchronize)(work));
  EXPECT_EQ(host_calls, 11);
  EXPECT_EQ(nested, CUDA_ERROR_NOT_PERMITTED) << "a host function may not call the driver";
  EXPECT_EQ(CU(cuLaunchHostFunc)(work, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuStreamDestroy_v2)(work));
}

TEST_F(Streams, WriteAndWaitValues) {
  const CUstream writer = stream(), waiter = stream();
  const CUdeviceptr words = alloc(4096), data = alloc(4096);
  EXPECT_CU(CU(cuMemsetD8_v2)(words, 0, 4096));
  EXPECT_CU(CU(cuMemsetD8_v2)(data, '-', 4096));
  EXPECT_CU(CU(cuCtxSynchronize)());
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(waiter, words, 7, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CU(cuStreamWaitValue64_v2)(waiter, words + 8, 9, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_CU(CU(cuMemsetD8Async)(data, '+', 4, waiter));
  EXPECT_EQ(CU(cuStreamQuery)(waiter), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(read(data, 1), "-");
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(writer, words, 7, CU_STREAM_WRITE_VALUE_DEFAULT));
  EXPECT_CU(CU(cuStreamWriteValue64_v2)(writer, words + 8, 10, 0));
  EXPECT_CU(CU(cuStreamSynchronize)(waiter));
  EXPECT_EQ(read(data, 5), "++++-");
  EXPECT_EQ(read(words, 1), std::string(1, '\x07'));
  // The first generation takes the same arguments.
  EXPECT_CU(CU(cuStreamWriteValue32)(writer, words, 1, 0));
  EXPECT_CU(CU(cuStreamWriteValue64)(writer, words + 8, 1, 0));
  EXPECT_CU(CU(cuStreamWaitValue32)(writer, words, 1, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_CU(CU(cuStreamWaitValue64)(writer, words + 8, 1, CU_STREAM_WAIT_VALUE_NOR));
  EXPECT_CU(CU(cuStreamSynchronize)(writer)) << "1 & 1 and ~(1 | 1) are not 0";
  EXPECT_EQ(CU(cuStreamWaitValue32)(writer, words, 1, CU_STREAM_WAIT_VALUE_FLUSH),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(CU(cuStreamWaitValue32)(writer, words, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamWriteValue32)(writer, words + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamWriteValue64)(writer, words + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamWriteValue32)(writer, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  for (CUstream each : {writer, waiter}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
  for (CUdeviceptr each : {words, data}) EXPECT_CU(CU(cuMemFree_v2)(each));
}

TEST_F(Streams, BatchIsCheckedBeforeItRuns) {
  const CUstream work = stream();
  const CUdeviceptr words = alloc(64);
  EXPECT_CU(CU(cuMemsetD8_v2)(words, 0, 64));
  EXPECT_CU(CU(cuCtxSynchronize)());
  CUstreamBatchMemOpParams ops[4] = {};
  ops[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, words, {5}, 0, 0};
  ops[1].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, CU_STREAM_MEMORY_BARRIER_TYPE_SYS};
  ops[2].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, words, {5}, CU_STREAM_WAIT_VALUE_EQ, 0};
  ops[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  ops[3].writeValue.address = words + 8;
  ops[3].writeValue.value64 = 6;
  EXPECT_CU(CU(cuStreamBatchMemOp_v2)(work, 4, ops, 0));
  EXPECT_CU(CU(cuStreamSynchronize)(work));
  EXPECT_EQ(read(words, 1) + read(words + 8, 1), "\x05\x06");
  EXPECT_EQ(CU(cuStreamBatchMemOp)(work, 4, ops, 0), CUDA_ERROR_INVALID_VALUE)
      << "barriers came with the second version";
  ops[0].writeValue.value = 9;
  ops[3].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  EXPECT_EQ(CU(cuStreamBatchMemOp_v2)(work, 4, ops, 0), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_CU(CU(cuStreamSynchronize)(work));
  EXPECT_EQ(read(words, 1), "\x05") << "a refused batch runs none of its operations";
  EXPECT_CU(CU(cuStreamBatchMemOp)(work, 1, ops, 0));
  EXPECT_EQ(CU(cuStreamBatchMemOp)(work, 257, ops, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuStreamDestroy_v2)(work));
  EXPECT_CU(CU(cuMemFree_v2)(words));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

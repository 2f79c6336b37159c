// Default streams and events (CUDA driver API: "Stream synchronization behavior"; cuda.h).
#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class StreamOrder : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    a_ = alloc(64 * kMiB);
    b_ = alloc(64 * kMiB);
    for (CUevent* each : {&before_, &after_}) EXPECT_CU(CU(cuEventCreate)(each, CU_EVENT_DEFAULT));
    EXPECT_CU(CU(cuCtxSynchronize)());
  }
  void TearDown() override {
    for (CUevent each : {before_, after_}) EXPECT_CU(CU(cuEventDestroy_v2)(each));
    for (CUdeviceptr each : {a_, b_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    World::TearDown();
  }
  static CUstream stream(unsigned flags) {
    CUstream out = nullptr;
    EXPECT_CU(CU(cuStreamCreate)(&out, flags));
    return out;
  }
  // Work on one stream, then an event on another: did that one wait for the work?
  bool waits_for(CUstream second, CUstream first) {
    EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 64 * kMiB, first));
    EXPECT_CU(CU(cuEventRecord)(before_, first));
    EXPECT_CU(CU(cuEventRecord)(after_, second));
    EXPECT_CU(CU(cuCtxSynchronize)());
    float milliseconds = 0;
    EXPECT_CU(CU(cuEventElapsedTime)(&milliseconds, before_, after_));
    return milliseconds >= 0;
  }
  CUdeviceptr a_ = 0, b_ = 0;
  CUevent before_ = nullptr, after_ = nullptr;
};

TEST_F(StreamOrder, TheLegacyStreamOrdersItselfAgainstBlockingStreams) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT), other = stream(CU_STREAM_DEFAULT);
  const CUstream apart = stream(CU_STREAM_NON_BLOCKING);
  EXPECT_TRUE(waits_for(CU_STREAM_LEGACY, blocking));
  EXPECT_TRUE(waits_for(blocking, CU_STREAM_LEGACY));
  EXPECT_TRUE(waits_for(nullptr, blocking)) << "null is the legacy stream";
  EXPECT_FALSE(waits_for(CU_STREAM_LEGACY, apart));
  EXPECT_FALSE(waits_for(apart, CU_STREAM_LEGACY));
  EXPECT_FALSE(waits_for(blocking, other));
  for (CUstream each : {blocking, other, apart}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
}

// "The per-thread default stream is not a non-blocking stream and will synchronize with the legacy
// default stream if both are used in a program."
TEST_F(StreamOrder, ThePerThreadStreamIsABlockingOne) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  EXPECT_TRUE(waits_for(CU_STREAM_PER_THREAD, CU_STREAM_LEGACY));
  EXPECT_TRUE(waits_for(CU_STREAM_LEGACY, CU_STREAM_PER_THREAD));
  EXPECT_FALSE(waits_for(CU_STREAM_PER_THREAD, blocking));
  EXPECT_CU(CU(cuStreamDestroy_v2)(blocking));
}

// Legacy work lies between the blocking streams of before and after it.
TEST_F(StreamOrder, ALegacyCopySeparatesBlockingStreams) {
  const CUstream first = stream(CU_STREAM_DEFAULT), second = stream(CU_STREAM_DEFAULT);
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 64 * kMiB, first));
  EXPECT_CU(CU(cuEventRecord)(before_, first));
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 0, 4, CU_STREAM_LEGACY));
  EXPECT_CU(CU(cuEventRecord)(after_, second));
  EXPECT_CU(CU(cuCtxSynchronize)());
  float milliseconds = -1;
  EXPECT_CU(CU(cuEventElapsedTime)(&milliseconds, before_, after_));
  EXPECT_GT(milliseconds, 0);
  for (CUstream each : {first, second}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
}

// cuda.h:cuEventRecord: a wait keeps to the record that it saw; a later one does not move it.
TEST_F(StreamOrder, ARecordDoesNotMoveEarlierWaits) {
  const CUstream work = stream(CU_STREAM_NON_BLOCKING), waiter = stream(CU_STREAM_NON_BLOCKING);
  EXPECT_CU(CU(cuEventRecord)(before_, work));
  EXPECT_CU(CU(cuStreamWaitEvent)(waiter, before_, 0));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 64 * kMiB, work));
  EXPECT_CU(CU(cuEventRecord)(before_, work));
  EXPECT_EQ(CU(cuEventQuery)(before_), CUDA_ERROR_NOT_READY) << "of the last record";
  EXPECT_CU(CU(cuStreamSynchronize)(waiter));
  EXPECT_EQ(CU(cuEventQuery)(before_), CUDA_ERROR_NOT_READY);
  EXPECT_CU(CU(cuEventSynchronize)(before_));
  EXPECT_CU(CU(cuStreamQuery)(work));
  for (CUstream each : {work, waiter}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
}

// error-table.txt: "elapsed of an event with itself".
TEST_F(StreamOrder, ElapsedTimes) {
  float milliseconds = -1;
  EXPECT_EQ(CU(cuEventElapsedTime_v2)(&milliseconds, before_, after_), CUDA_ERROR_INVALID_HANDLE)
      << "never recorded";
  EXPECT_CU(CU(cuEventRecord)(before_, nullptr));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 64 * kMiB, nullptr));
  EXPECT_CU(CU(cuEventRecord)(after_, nullptr));
  EXPECT_EQ(CU(cuEventElapsedTime)(&milliseconds, before_, after_), CUDA_ERROR_NOT_READY);
  EXPECT_CU(CU(cuEventSynchronize)(after_));
  EXPECT_CU(CU(cuEventElapsedTime)(&milliseconds, before_, after_));
  EXPECT_GT(milliseconds, 0.005F);
  float back = 0;
  EXPECT_CU(CU(cuEventElapsedTime_v2)(&back, after_, before_));
  EXPECT_EQ(back, -milliseconds);
  EXPECT_CU(CU(cuEventElapsedTime)(&milliseconds, after_, after_));
  EXPECT_EQ(milliseconds, 0);
}

TEST_F(StreamOrder, FillsOfRows) {
  EXPECT_CU(CU(cuMemsetD8_v2)(a_, '.', 64));
  EXPECT_CU(CU(cuMemsetD2D8_v2)(a_, 8, 'x', 3, 2));
  EXPECT_CU(CU(cuMemsetD2D16Async)(a_ + 16, 8, 0x7a79, 2, 2, nullptr));
  EXPECT_CU(CU(cuMemsetD2D32Async)(a_ + 32, 12, 0x64636261, 2, 2, nullptr));
  EXPECT_EQ(read(a_, 56),
            "xxx.....xxx....."
            "yzyz....yzyz...."
            "abcdabcd....abcdabcd....");
  EXPECT_EQ(CU(cuMemsetD2D8_v2)(a_, 2, 'x', 3, 2), CUDA_ERROR_INVALID_VALUE) << "pitch < width";
  EXPECT_EQ(CU(cuMemsetD2D32_v2)(a_, 6, 1, 1, 2), CUDA_ERROR_INVALID_VALUE) << "pitch unaligned";
  EXPECT_CU(CU(cuMemsetD2D32_v2)(a_, 0, 0x30303030, 1, 1)) << "one row has no pitch";
  EXPECT_EQ(CU(cuMemsetD2D8_v2)(a_, 32 * kMiB, 1, 32 * kMiB, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(read(a_, 5), "0000.");
}

}  // namespace
}  // namespace symmcts::platform::abi::test

// The rules of stream capture: cuda.h, the CUDA programming guide, and what two H200s answered
// (fixtures/oracles/h200-x2/error-table.txt and copy-paths.txt; hardware stream-memory-ops.txt).
#include <thread>

#include "harness/platform/abi/tests/graph_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class Capture : public Graphs {};

// error-table.txt, "captures".
TEST_F(Capture, BeginsAndEndsAsMeasured) {
  CUgraph graph = nullptr;
  EXPECT_EQ(CU(cuStreamBeginCapture_v2)(nullptr, CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(CU(cuStreamBeginCapture_v2)(one_, static_cast<CUstreamCaptureMode>(9)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamEndCapture)(one_, &graph), CUDA_ERROR_ILLEGAL_STATE);
  begin(one_);
  EXPECT_EQ(CU(cuStreamBeginCapture_v2)(one_, CU_STREAM_CAPTURE_MODE_GLOBAL),
            CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, one_));
  EXPECT_EQ(status(one_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  graph = end(one_);
  EXPECT_EQ(nodes(graph).size(), 1U);
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  EXPECT_EQ(CU(cuGraphDestroy)(graph), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Capture, UnsafeCallsInvalidateAsMeasured) {
  begin(one_);
  EXPECT_EQ(CU(cuStreamSynchronize)(one_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(one_), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(CU(cuMemsetD8Async)(a_, 1, 16, one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_);
  EXPECT_EQ(CU(cuStreamQuery)(two_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_);
  CUdeviceptr fresh = 0;
  EXPECT_EQ(CU(cuMemAlloc_v2)(&fresh, kMiB), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(CU(cuMemAlloc_v2)(&fresh, kMiB));
  EXPECT_CU(end_code(one_));
  EXPECT_CU(CU(cuMemFree_v2)(fresh));
  begin(one_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CU(CU(cuMemcpyDtoD_v2)(a_, a_ + 4096, 16));
  EXPECT_CU(end_code(one_));
  // The guide: a synchronization of something that holds a captured stream.
  begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(CU(cuCtxSynchronize)(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

// facts A9.17; stream-memory-ops.txt: "cuMemCreate while capturing (global mode)".
TEST_F(Capture, MemoryCanBeMadeAndMappedBeside) {
  begin(one_);
  const auto handle = create(0, 0);
  CUdeviceptr at = 0;
  EXPECT_CU(CU(cuMemAddressReserve)(&at, kBlock, 0, 0, 0));
  EXPECT_CU(CU(cuMemMap)(at, kBlock, 0, handle, 0));
  EXPECT_CU(end_code(one_));
  unmap(at);
  EXPECT_CU(CU(cuMemRelease)(handle));
}

// copy-paths.txt: "batch in a capture", "end".
TEST_F(Capture, RefusesABatchOfCopiesAndSurvives) {
  begin(one_);
  CUdeviceptr to[] = {a_}, from[] = {b_};
  std::size_t sizes[] = {16}, index = 0;
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_EQ(CU(cuMemcpyBatchAsync_v2)(to, from, sizes, 1, &attributes, &index, 1, one_),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_CU(end_code(one_));
}

// cuda.h:cuStreamAddCallback, unlike cuLaunchHostFunc.
TEST_F(Capture, RefusesCallbacks) {
  begin(one_);
  const auto back = [](CUstream, CUresult, void*) {};
  EXPECT_EQ(CU(cuStreamAddCallback)(one_, back, nullptr, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Capture, CapturedEventsCannotBeAsked) {
  begin(one_);
  EXPECT_CU(CU(cuEventRecord)(fork_, one_));
  EXPECT_CU(CU(cuStreamWaitEvent)(two_, fork_, 0));
  EXPECT_EQ(status(two_), CU_STREAM_CAPTURE_STATUS_ACTIVE) << "a wait takes the stream in";
  EXPECT_EQ(CU(cuEventQuery)(fork_), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(status(two_), CU_STREAM_CAPTURE_STATUS_NONE) << "the end lets every stream go";
  EXPECT_EQ(CU(cuEventSynchronize)(fork_), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_CU(CU(cuEventRecord)(fork_, one_));
  EXPECT_CU(CU(cuEventSynchronize)(fork_)) << "recorded again, outside";
}

TEST_F(Capture, BranchesMustJoin) {
  begin(one_);
  fork();
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, two_));
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  begin(one_);
  fork();
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, two_));
  EXPECT_EQ(end_code(two_), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) << "it began elsewhere";
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_);
  fork();
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, two_));
  join();
  EXPECT_CU(end_code(one_));
}

TEST_F(Capture, DependenciesDoNotCrossItsBorder) {
  EXPECT_CU(CU(cuEventRecord)(join_, two_));
  begin(one_);
  EXPECT_EQ(CU(cuStreamWaitEvent)(one_, join_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_);
  begin(two_);
  EXPECT_CU(CU(cuEventRecord)(fork_, one_));
  EXPECT_EQ(CU(cuStreamWaitEvent)(two_, fork_, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end_code(two_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUevent never = nullptr;
  EXPECT_CU(CU(cuEventCreate)(&never, 0));
  begin(one_);
  EXPECT_CU(CU(cuStreamWaitEvent)(one_, never, 0)) << "never recorded: no work at all";
  EXPECT_CU(end_code(one_));
  EXPECT_CU(CU(cuEventDestroy_v2)(never));
}

// cuda.h:cuStreamIsCapturing: the legacy stream beside the capture of a blocking one.
TEST_F(Capture, TheLegacyStreamMayNotDependOnABlockingCapture) {
  CUstream blocking = nullptr;
  EXPECT_CU(CU(cuStreamCreate)(&blocking, CU_STREAM_DEFAULT));
  begin(blocking);
  CUstreamCaptureStatus out = CU_STREAM_CAPTURE_STATUS_NONE;
  EXPECT_EQ(CU(cuStreamIsCapturing)(nullptr, &out), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(status(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE) << "asking does no harm";
  EXPECT_EQ(CU(cuMemsetD8Async)(a_, 1, 16, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end_code(blocking), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(blocking);
  EXPECT_EQ(CU(cuMemcpyDtoD_v2)(a_, b_, 16), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end_code(blocking), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_);
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, nullptr)) << "non-blocking streams are apart";
  EXPECT_CU(end_code(one_));
  EXPECT_CU(CU(cuStreamDestroy_v2)(blocking));
}

// cuda.h:cuThreadExchangeStreamCaptureMode; pytorch#104555 and #148594: a watchdog thread's query
// of an event breaks a global capture, unless that thread goes to the thread-local mode first.
TEST_F(Capture, AnotherThreadMustNotAskUnlessItIsRelaxed) {
  const CUcontext current = context(0);
  const auto elsewhere = [&](CUstreamCaptureMode mode) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      EXPECT_CU(CU(cuCtxSetCurrent)(current));
      EXPECT_CU(CU(cuThreadExchangeStreamCaptureMode)(&mode));
      EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL) << "a thread starts in the global mode";
      result = CU(cuEventQuery)(join_);
    }).join();
    return result;
  };
  begin(one_);
  EXPECT_CU(elsewhere(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CU(elsewhere(CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  begin(one_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CU(elsewhere(CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_CU(CU(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_CU(CU(cuEventQuery)(join_)) << "this thread is relaxed now";
  EXPECT_CU(CU(cuThreadExchangeStreamCaptureMode)(&mode));
  EXPECT_EQ(CU(cuEventQuery)(join_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end_code(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Capture, OnlyItsThreadEndsIt) {
  const CUcontext current = context(0);
  const auto end_elsewhere = [&] {
    CUresult result = CUDA_ERROR_UNKNOWN;
    std::thread([&] {
      EXPECT_CU(CU(cuCtxSetCurrent)(current));
      result = end_code(one_);
    }).join();
    return result;
  };
  begin(one_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(end_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_CU(end_code(one_));
  begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(end_elsewhere());
}

TEST_F(Capture, InfoInEveryVersion) {
  begin(one_);
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 1, 16, one_));
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0, again = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* dependencies = nullptr;
  const CUgraphEdgeData* data = nullptr;
  std::size_t count = 0;
  EXPECT_CU(CU(cuStreamGetCaptureInfo)(one_, &state, &id));
  EXPECT_EQ(state, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_CU(CU(cuStreamGetCaptureInfo_v2)(one_, &state, &again, &graph, &dependencies, &count));
  EXPECT_EQ(id, again);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(dependencies[0], nodes(graph).at(0));
  EXPECT_CU(
      CU(cuStreamGetCaptureInfo_v3)(one_, &state, nullptr, nullptr, &dependencies, &data, &count));
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(CU(cuStreamGetCaptureInfo_v3)(one_, &state, nullptr, nullptr, nullptr, &data, &count),
            CUDA_ERROR_INVALID_VALUE);
  // NCCL sets the dependencies of captured streams itself.
  EXPECT_EQ(CU(cuStreamUpdateCaptureDependencies)(two_, nullptr, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CU(
      CU(cuStreamUpdateCaptureDependencies)(one_, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_CU(CU(cuMemsetD8Async)(b_, 1, 16, one_));
  CUgraphNode first = nodes(graph).at(0);
  EXPECT_CU(CU(cuStreamUpdateCaptureDependencies_v2)(one_, &first, nullptr, 1,
                                                     CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  EXPECT_CU(CU(cuMemsetD8Async)(b_, 2, 16, one_));
  EXPECT_EQ(end(one_), graph);
  EXPECT_EQ(nodes(graph).size(), 3U);
  EXPECT_EQ(edges(graph), 2U) << "the third waits for both, the second for none";
  EXPECT_CU(CU(cuGraphDestroy)(graph));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

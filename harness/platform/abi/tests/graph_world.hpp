#pragma once

#include <string>
#include <vector>

#include "harness/platform/abi/tests/world.hpp"

// What tests of stream capture and graphs start from: two non-blocking streams and some memory.
namespace symmcts::platform::abi::test {

class Graphs : public World {
 protected:
  void SetUp() override {
    World::SetUp();
    a_ = alloc(kMiB);
    b_ = alloc(kMiB);
    for (CUstream* each : {&one_, &two_}) {
      EXPECT_CU(CU(cuStreamCreate)(each, CU_STREAM_NON_BLOCKING));
    }
    for (CUevent* each : {&fork_, &join_}) {
      EXPECT_CU(CU(cuEventCreate)(each, CU_EVENT_DISABLE_TIMING));
    }
  }
  void TearDown() override {
    for (CUevent each : {fork_, join_}) EXPECT_CU(CU(cuEventDestroy_v2)(each));
    for (CUstream each : {one_, two_}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
    for (CUdeviceptr each : {a_, b_}) EXPECT_CU(CU(cuMemFree_v2)(each));
    World::TearDown();
  }

  static void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    EXPECT_CU(CU(cuStreamBeginCapture_v2)(stream, mode));
  }
  static CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    EXPECT_CU(CU(cuStreamEndCapture)(stream, &graph));
    return graph;
  }
  static CUresult end_code(CUstream stream) {
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    const CUresult result = CU(cuStreamEndCapture)(stream, &graph);
    EXPECT_EQ(graph == nullptr, result != CUDA_SUCCESS);
    if (graph != nullptr) {
      EXPECT_CU(CU(cuGraphDestroy)(graph));
    }
    return result;
  }
  static CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus out = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_CU(CU(cuStreamIsCapturing)(stream, &out));
    return out;
  }
  static CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_CU(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
    return exec;
  }
  static std::vector<CUgraphNode> nodes(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CU(CU(cuGraphGetNodes)(graph, nullptr, &count));
    std::vector<CUgraphNode> out(count);
    EXPECT_CU(CU(cuGraphGetNodes)(graph, out.data(), &count));
    return out;
  }
  static std::size_t edges(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CU(CU(cuGraphGetEdges_v2)(graph, nullptr, nullptr, nullptr, &count));
    return count;
  }
  void fork() {
    EXPECT_CU(CU(cuEventRecord)(fork_, one_));
    EXPECT_CU(CU(cuStreamWaitEvent)(two_, fork_, 0));
  }
  void join() {
    EXPECT_CU(CU(cuEventRecord)(join_, two_));
    EXPECT_CU(CU(cuStreamWaitEvent)(one_, join_, 0));
  }

  CUdeviceptr a_ = 0, b_ = 0;
  CUstream one_ = nullptr, two_ = nullptr;
  CUevent fork_ = nullptr, join_ = nullptr;
};

}  // namespace symmcts::platform::abi::test

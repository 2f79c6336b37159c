// Activity records of graph launches (cupti_activity.h; fixtures/oracles/h200-x2/copy-paths.txt,
// "graph launched twice, node records").
#include "harness/platform/abi/tests/cupti_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

TEST_F(Cupti, RecordsOfAGraphLaunch) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMSET));
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_DRIVER));
  const CUdeviceptr here = alloc(kMiB), also = alloc(kMiB);
  const auto handle = create(1, 0);
  const CUdeviceptr there = map(handle, {0});
  CUstream one = nullptr, two = nullptr;
  for (CUstream* each : {&one, &two}) EXPECT_CU(CU(cuStreamCreate)(each, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  EXPECT_CU(CU(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CU(CU(cuStreamBeginCapture_v2)(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(also, here, kMiB, one));
  EXPECT_CU(CU(cuEventRecord)(event, one));
  EXPECT_CU(CU(cuStreamWaitEvent)(two, event, 0));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(there, here, kMiB, two));
  EXPECT_CU(CU(cuMemsetD8Async)(here, 1, kMiB, one));
  EXPECT_CU(CU(cuEventRecord)(event, two));
  EXPECT_CU(CU(cuStreamWaitEvent)(one, event, 0));
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CU(CU(cuStreamEndCapture)(one, &graph));
  EXPECT_CU(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
  std::uint32_t exec_id = 0, graph_id = 0, stream_id = 0, other_id = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetGraphExecId)(exec, &exec_id));
  EXPECT_CUPTI(CUPTI(cuptiGetGraphId)(graph, &graph_id));
  EXPECT_NE(exec_id, graph_id);
  EXPECT_NE(exec_id, 0U);
  EXPECT_CUPTI(CUPTI(cuptiGetStreamId)(nullptr, one, &stream_id));
  EXPECT_CUPTI(CUPTI(cuptiGetStreamId)(nullptr, two, &other_id));
  std::size_t count = 1;
  CUgraphNode node = nullptr;
  std::uint64_t node_number = 1;
  EXPECT_CU(CU(cuGraphGetNodes)(graph, &node, &count));
  EXPECT_CUPTI(CUPTI(cuptiGetGraphNodeId)(node, &node_number));
  EXPECT_EQ(node_number & 0xffffffff, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_CU(CU(cuGraphLaunch)(exec, one));
  EXPECT_CU(CU(cuStreamSynchronize)(one));
  EXPECT_CUPTI(CUPTI(cuptiActivityFlushAll)(1));

  std::vector<std::uint32_t> launches;
  for (const auto& call : calls) {
    if (call.cbid == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch) launches.push_back(call.correlationId);
  }
  ASSERT_EQ(launches.size(), 2U);
  ASSERT_EQ(copies.size(), 2U);
  ASSERT_EQ(peers.size(), 2U);
  ASSERT_EQ(fills.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(copies[i].correlationId, launches[i]);
    EXPECT_EQ(peers[i].correlationId, launches[i]);
    EXPECT_EQ(fills[i].correlationId, launches[i]);
    EXPECT_EQ(copies[i].graphId, exec_id);
    EXPECT_EQ(peers[i].graphId, exec_id);
    EXPECT_EQ(fills[i].graphId, exec_id);
    // The lower half of a node's id is its place in the graph.
    EXPECT_EQ(copies[i].graphNodeId & 0xffffffff, 0U);
    EXPECT_EQ(peers[i].graphNodeId & 0xffffffff, 1U);
    EXPECT_EQ(fills[i].graphNodeId & 0xffffffff, 2U);
    EXPECT_EQ(copies[i].streamId, stream_id);
    EXPECT_EQ(fills[i].streamId, stream_id);
    EXPECT_NE(peers[i].streamId, stream_id) << "a branch runs on a stream of its own,";
    EXPECT_NE(peers[i].streamId, other_id) << "which is none of the program's";
  }
  EXPECT_LT(peers[0].end, copies[1].start) << "one launch after the other";
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  EXPECT_CU(CU(cuEventDestroy_v2)(event));
  for (CUstream each : {one, two}) EXPECT_CU(CU(cuStreamDestroy_v2)(each));
  unmap(there);
  EXPECT_CU(CU(cuMemRelease)(handle));
  for (CUdeviceptr each : {here, also}) EXPECT_CU(CU(cuMemFree_v2)(each));
}

// "peer copy without access 1048576": two records, DtoH on the source device and HtoD on the other
// one.
TEST_F(Cupti, RecordsOfAPeerCopyWithoutAccess) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
  const CUdeviceptr there = alloc(4 * kMiB);
  EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
  const CUdeviceptr here = alloc(4 * kMiB);
  EXPECT_CU(CU(cuMemsetD8_v2)(here, 'p', 4 * kMiB));
  EXPECT_CU(CU(cuMemcpyPeer)(there, context(1), here, context(0), 4 * kMiB));
  EXPECT_CU(CU(cuCtxSynchronize)());
  EXPECT_CUPTI(CUPTI(cuptiActivityFlushAll)(1));
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_TRUE(peers.empty());
  EXPECT_EQ(copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[0].deviceId, 0U);
  EXPECT_EQ(copies[1].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[1].deviceId, 1U);
  std::uint32_t owner = 0;
  EXPECT_CUPTI(CUPTI(cuptiGetContextId)(context(1), &owner));
  EXPECT_EQ(copies[1].contextId, owner);
  for (const auto& copy : copies) {
    EXPECT_EQ(copy.bytes, 4 * kMiB);
    EXPECT_EQ(copy.srcKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    EXPECT_EQ(copy.dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    EXPECT_EQ(copy.correlationId, copies[0].correlationId);
  }
  EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
  EXPECT_EQ(read(there + 4 * kMiB - 2, 2), "pp");
  EXPECT_CU(CU(cuMemFree_v2)(there));
  EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
  EXPECT_CU(CU(cuMemFree_v2)(here));
}

// "batch 4 up", "batch 4 peer", "batch 4 local", "batch mixed: peer, local, peer, up".
TEST_F(Cupti, RecordsOfBatches) {
  EXPECT_CUPTI(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY));
  const CUdeviceptr here = alloc(4 * kMiB), also = alloc(4 * kMiB);
  const auto handle = create(1, 0, 4 * kMiB);
  const CUdeviceptr there = map(handle, {0}, 4 * kMiB);
  void* host = nullptr;
  EXPECT_CU(CU(cuMemHostAlloc)(&host, 4 * kMiB, 0));
  const auto pinned = reinterpret_cast<CUdeviceptr>(host);
  CUstream stream = nullptr;
  EXPECT_CU(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
  const auto batch = [&](std::vector<CUdeviceptr> to, std::vector<CUdeviceptr> from) {
    copies.clear();
    peers.clear();
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] += i * kMiB;
      from[i] += i * kMiB;
    }
    std::vector<std::size_t> sizes(to.size(), kMiB);
    std::size_t index = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    EXPECT_CU(CU(cuMemcpyBatchAsync_v2)(to.data(), from.data(), sizes.data(), to.size(),
                                        &attributes, &index, 1, stream));
    EXPECT_CU(CU(cuStreamSynchronize)(stream));
    EXPECT_CUPTI(CUPTI(cuptiActivityFlushAll)(1));
  };
  batch({here, here, here, here}, {pinned, pinned, pinned, pinned});
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].bytes, 4 * kMiB);
  EXPECT_EQ(copies[0].copyCount, 4U);
  batch({there, there, there, there}, {here, here, here, here});
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_EQ(peers[0].bytes, 4 * kMiB);
  batch({also, also, also, also}, {here, here, here, here});
  ASSERT_EQ(copies.size(), 4U);
  for (const auto& copy : copies) EXPECT_EQ(copy.copyCount, 1U);
  batch({there, also, there, also}, {here, here, here, pinned});
  EXPECT_EQ(peers.size(), 2U) << "a local copy lies between them";
  ASSERT_EQ(copies.size(), 2U);
  EXPECT_EQ(copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
  EXPECT_EQ(copies[1].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_CU(CU(cuStreamDestroy_v2)(stream));
  EXPECT_CU(CU(cuMemFreeHost)(host));
  unmap(there, 4 * kMiB);
  EXPECT_CU(CU(cuMemRelease)(handle));
  for (CUdeviceptr each : {here, also}) EXPECT_CU(CU(cuMemFree_v2)(each));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

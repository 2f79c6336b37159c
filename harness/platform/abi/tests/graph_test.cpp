// Graphs of stream capture: what they hold, and what a launch does.
#include <atomic>

#include "harness/platform/abi/tests/graph_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class Graph : public Graphs {
 protected:
  // Launches and waits.
  void launch(CUgraphExec exec) {
    EXPECT_CU(CU(cuGraphLaunch)(exec, one_));
    EXPECT_CU(CU(cuStreamSynchronize)(one_));
  }
};

// copy-paths.txt: "nodes 7 edges 7", types copy, copy, copy, memset, two of memory operations,
// copy.
TEST_F(Graph, HoldsNodesEdgesAndTypesAsMeasured) {
  void* host = nullptr;
  EXPECT_CU(CU(cuMemHostAlloc)(&host, 4096, 0));
  begin(one_);
  EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(a_, host, 4096, one_));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 4096, one_));
  fork();
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_ + 8192, a_, 4096, two_));
  EXPECT_CU(CU(cuMemsetD8Async)(a_ + 8192, 1, 4096, one_));
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(one_, a_ + 16384, 1, 0));
  join();
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(one_, a_ + 16384, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(host, b_, 4096, one_));
  const CUgraph graph = end(one_);
  const auto all = nodes(graph);
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(edges(graph), 7U);
  const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMCPY,
                                   CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,
                                   CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                   CU_GRAPH_NODE_TYPE_MEMCPY};
  for (std::size_t i = 0; i < all.size(); ++i) {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
    EXPECT_CU(CU(cuGraphNodeGetType)(all[i], &type));
    EXPECT_EQ(type, types[i]) << i;
  }
  std::size_t count = 4;
  CUgraphNode some[4] = {};
  EXPECT_CU(CU(cuGraphGetRootNodes)(graph, some, &count));
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(some[0], all[0]);
  EXPECT_EQ(some[1], nullptr) << "the rest of the array is set to null";
  count = 4;
  EXPECT_CU(CU(cuGraphNodeGetDependencies)(all[5], some, &count));
  EXPECT_EQ(count, 2U) << "the end of the branch and the write";
  EXPECT_EQ(read(a_ + 8192, 1), std::string(1, '\0')) << "captured work has not run";
  const CUgraphExec exec = instantiate(graph);
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  EXPECT_EQ(CU(cuGraphNodeGetType)(all[0], nullptr), CUDA_ERROR_INVALID_VALUE);
  std::memset(host, 'h', 4096);
  EXPECT_CU(CU(cuMemsetD8_v2)(a_ + 16384, 0, 4));
  launch(exec);
  EXPECT_EQ(read(b_, 2) + read(b_ + 8192, 2) + read(a_ + 8192, 1), "hhhh\x01");
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_EQ(CU(cuGraphLaunch)(exec, one_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemFreeHost)(host));
}

// Every launch reads what is there then, also from pageable memory (CUDA's sample simpleCudaGraphs
// captures copies from and to memory of malloc; copy-paths.txt: "capture of a pageable upload").
TEST_F(Graph, EveryLaunchReadsAnew) {
  std::string source = "first", target = "?????";
  begin(one_);
  EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(a_, source.data(), 5, one_));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 5, one_));
  EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(target.data(), b_, 5, one_));
  const CUgraph graph = end(one_);
  const CUgraphExec exec = instantiate(graph);
  launch(exec);
  EXPECT_EQ(target, "first");
  source = "again";
  EXPECT_CU(CU(cuGraphUpload)(exec, one_));
  launch(exec);
  EXPECT_EQ(target, "again");
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
}

// Branches run beside each other, what joins them waits for both; the second launch comes behind
// the first one, on whatever stream (cuda.h:cuGraphLaunch).
TEST_F(Graph, BranchesAndLaunchesAreOrdered) {
  begin(one_);
  fork();
  EXPECT_CU(CU(cuStreamWaitValue32_v2)(two_, a_, 7, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CU(cuMemsetD8Async)(b_, 'x', 4, two_));
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(one_, a_, 7, 0));
  join();
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_ + 4, b_, 4, one_));
  EXPECT_CU(CU(cuStreamWriteValue32_v2)(one_, a_, 0, 0));
  const CUgraph graph = end(one_);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_CU(CU(cuMemsetD8_v2)(a_, 0, 16));
  EXPECT_CU(CU(cuMemsetD8_v2)(b_, '-', 16));
  EXPECT_CU(CU(cuCtxSynchronize)());
  EXPECT_CU(CU(cuGraphLaunch)(exec, one_));
  EXPECT_CU(CU(cuGraphLaunch)(exec, two_));
  EXPECT_CU(CU(cuMemsetD8Async)(b_, 'y', 1, two_));
  EXPECT_CU(CU(cuStreamSynchronize)(two_));
  EXPECT_EQ(read(b_, 9), "yxxxxxxx-");
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
}

std::atomic<int> host_calls{0};

// facts A14.5: what a capture holds is written again with every replay
TEST_F(Graph, HostFunctionsAndBatchesOfMemoryOperationsAreReplayed) {
  host_calls = 0;
  int ten = 10;
  begin(one_);
  EXPECT_CU(CU(cuLaunchHostFunc)(
      one_, [](void* data) { host_calls += *static_cast<int*>(data); }, &ten));
  CUstreamBatchMemOpParams ops[2] = {};
  ops[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, a_, {5}, 0, 0};
  ops[1].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, a_, {5}, CU_STREAM_WAIT_VALUE_EQ, 0};
  EXPECT_CU(CU(cuStreamBatchMemOp_v2)(one_, 2, ops, 0));
  const CUgraph graph = end(one_);
  EXPECT_EQ(nodes(graph).size(), 2U) << "a batch is one node";
  EXPECT_EQ(host_calls, 0);
  const CUgraphExec exec = instantiate(graph);
  for (int i = 1; i <= 3; ++i) {
    launch(exec);
    EXPECT_EQ(host_calls, 10 * i);
  }
  EXPECT_EQ(read(a_, 1), "\x05");
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
}

// A launch into a stream that is being captured becomes a child graph.
TEST_F(Graph, LaunchesAreCaptured) {
  begin(one_);
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 'i', 4, one_));
  const CUgraph inner = end(one_);
  const CUgraphExec inner_exec = instantiate(inner);
  begin(one_);
  EXPECT_CU(CU(cuGraphLaunch)(inner_exec, one_));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, 4, one_));
  const CUgraph outer = end(one_);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  EXPECT_CU(CU(cuGraphNodeGetType)(nodes(outer).at(0), &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
  const CUgraphExec exec = instantiate(outer);
  EXPECT_CU(CU(cuGraphExecDestroy)(inner_exec));
  for (CUgraph each : {inner, outer}) EXPECT_CU(CU(cuGraphDestroy)(each));
  launch(exec);
  EXPECT_EQ(read(b_, 4), "iiii");
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
}

// cuda.h:cuEventRecordWithFlags: external events are nodes, and not allowed outside a capture.
TEST_F(Graph, ExternalEvents) {
  CUevent start = nullptr, stop = nullptr;
  for (CUevent* each : {&start, &stop}) EXPECT_CU(CU(cuEventCreate)(each, CU_EVENT_DEFAULT));
  EXPECT_EQ(CU(cuEventRecordWithFlags)(start, one_, CU_EVENT_RECORD_EXTERNAL),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuStreamWaitEvent)(one_, start, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
  begin(one_);
  EXPECT_CU(CU(cuStreamWaitEvent)(one_, join_, CU_EVENT_WAIT_EXTERNAL));
  EXPECT_CU(CU(cuEventRecordWithFlags)(start, one_, CU_EVENT_RECORD_EXTERNAL));
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b_, a_, kMiB, one_));
  EXPECT_CU(CU(cuEventRecordWithFlags)(stop, one_, CU_EVENT_RECORD_EXTERNAL));
  const CUgraph graph = end(one_);
  EXPECT_EQ(nodes(graph).size(), 4U);
  const CUgraphExec exec = instantiate(graph);
  launch(exec);
  float milliseconds = 0;
  EXPECT_CU(CU(cuEventElapsedTime_v2)(&milliseconds, start, stop));
  EXPECT_GT(milliseconds, 0.0005F);
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  for (CUevent each : {start, stop}) EXPECT_CU(CU(cuEventDestroy_v2)(each));
}

TEST_F(Graph, EveryFormOfInstantiation) {
  begin(one_);
  EXPECT_CU(CU(cuMemsetD8Async)(a_, 'i', 4, one_));
  const CUgraph graph = end(one_);
  CUgraphExec exec = nullptr;
  CUgraphNode wrong = nodes(graph).at(0);
  char log[8] = "x";
  EXPECT_CU(CU(cuGraphInstantiate_v2)(&exec, graph, &wrong, log, sizeof log));
  EXPECT_EQ(wrong, nullptr);
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  params.hUploadStream = one_;
  EXPECT_CU(CU(cuGraphInstantiateWithParams)(&exec, graph, &params));
  EXPECT_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  EXPECT_CU(CU(cuGraphExecGetFlags)(exec, &flags));
  EXPECT_EQ(flags, params.flags);
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_EQ(CU(cuGraphInstantiateWithFlags)(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
            CUDA_ERROR_INVALID_VALUE)
      << "only cuGraphInstantiateWithParams uploads";
  EXPECT_EQ(CU(cuGraphInstantiateWithFlags)(&exec, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  CUgraph empty = nullptr;
  EXPECT_CU(CU(cuGraphCreate)(&empty, 0));
  exec = instantiate(empty);
  launch(exec);
  EXPECT_CU(CU(cuGraphExecDestroy)(exec));
  EXPECT_CU(CU(cuGraphDestroy)(empty));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

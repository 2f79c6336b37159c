// Graphs that stream capture has made: instantiation and launch. Building graphs node by node is
// not modelled.
#include <cstring>

#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/graph_handles.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

constexpr unsigned long long kInstantiateFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                                 CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                                 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

CUresult instantiate(Call& call, CUgraphExec* out, CUgraph handle, unsigned long long flags,
                     unsigned long long known) {
  if (out == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
  const auto object = call.runtime().graphs.graphs.find(handle);
  if (!object) return CUDA_ERROR_INVALID_VALUE;
  static Told told;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
    return call.not_modelled(told, "a graph to be launched from the device");
  }
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  auto made = std::make_shared<ExecObject>();
  made->exec = std::make_shared<GraphExec>(*call.runtime().streams, *object->graph,
                                           call.runtime().captures.next_graph());
  made->graph = object->graph;
  made->flags = flags;
  *out = call.runtime().graphs.execs.insert(made);
  return CUDA_SUCCESS;
}

// Nothing of the real driver's upload shows: launches need no first one here.
CUresult upload(Call& call, CUgraphExec handle, CUstream stream_handle) {
  Stream stream;
  CUresult error = call.need_stream(stream_handle, stream);
  if (error == CUDA_SUCCESS) error = refuse_on_captured(call, stream);
  if (error != CUDA_SUCCESS) return error;
  return call.runtime().graphs.execs.find(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuGraphCreate(Call& call, CUgraph* out, unsigned int flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto graph = std::make_shared<Graph>(call.runtime().captures.next_graph());
  *out = call.runtime().graphs.name(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(Call& call, CUgraph graph) {
  return call.runtime().graphs.destroy(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithFlags(Call& call, CUgraphExec* out, CUgraph graph,
                                     unsigned long long flags) {
  return instantiate(call, out, graph, flags, kInstantiateFlags);
}

// The forms before CUDA 12, with a place for an error's description: no graph here is invalid.
CUresult cuGraphInstantiate(Call& call, CUgraphExec* out, CUgraph graph, CUgraphNode* error_node,
                            char* log, std::size_t size) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && size > 0) log[0] = '\0';
  return instantiate(call, out, graph, 0, 0);
}

CUresult cuGraphInstantiate_v2(Call& call, CUgraphExec* out, CUgraph graph, CUgraphNode* error_node,
                               char* log, std::size_t size) {
  return cuGraphInstantiate(call, out, graph, error_node, log, size);
}

CUresult cuGraphInstantiateWithParams(Call& call, CUgraphExec* out, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  params->hErrNode_out = nullptr;
  params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  const CUresult error = instantiate(call, out, graph, params->flags,
                                     kInstantiateFlags | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
  if (error != CUDA_SUCCESS) return error;
  params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) return CUDA_SUCCESS;
  return upload(call, *out, params->hUploadStream);
}

CUresult cuGraphExecGetFlags(Call& call, CUgraphExec handle, cuuint64_t* flags) {
  const auto object = call.runtime().graphs.execs.find(handle);
  if (!object || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = object->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(Call& call, CUgraphExec handle) {
  return call.runtime().graphs.execs.take(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphUpload(Call& call, CUgraphExec exec, CUstream stream) {
  return upload(call, exec, stream);
}

// On a stream that is being captured the launch becomes a child graph.
CUresult cuGraphLaunch(Call& call, CUgraphExec handle, CUstream stream_handle) {
  Stream stream;
  if (const CUresult error = call.need_stream(stream_handle, stream); error != CUDA_SUCCESS) {
    return error;
  }
  const auto object = call.runtime().graphs.execs.find(handle);
  if (!object) return CUDA_ERROR_INVALID_VALUE;
  CUresult result = CUDA_SUCCESS;
  if (captured(call, stream, result, [&] { return ChildWork{object->graph}; })) return result;
  return to_result(object->exec->launch(stream.id, call.correlation()));
}

}  // namespace symmcts::platform::abi

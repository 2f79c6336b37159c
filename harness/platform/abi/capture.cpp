// Stream capture: the calls, and what captures mean to other calls.
#include "harness/platform/abi/capture.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/platform/abi/graph_handles.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

bool known(CUstreamCaptureMode mode) {
  return mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
         mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

// What the versions of cuStreamGetCaptureInfo share.
CUresult info(Call& call, CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
              CaptureInfo& out) {
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  const Code code = call.runtime().captures.info(capture_stream(stream), out);
  if (code != Code::success) return to_result(code);
  *status = static_cast<CUstreamCaptureStatus>(out.status);
  if (id != nullptr && out.status == CaptureStatus::active) *id = out.id;
  return CUDA_SUCCESS;
}

CUresult full_info(Call& call, CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                   CUgraph* graph, const CUgraphNode** dependencies, const CUgraphEdgeData** edges,
                   std::size_t* count) {
  CaptureInfo out;
  const CUresult error = info(call, stream, status, id, out);
  if (error != CUDA_SUCCESS || out.status != CaptureStatus::active) return error;
  GraphHandles& handles = call.runtime().graphs;
  if (graph != nullptr) *graph = handles.name(out.graph);
  // Valid until the thread asks again; the driver promises less.
  thread_local std::vector<CUgraphNode> nodes;
  nodes.clear();
  for (GraphNode* node : out.dependencies) nodes.push_back(handles.name(out.graph, *node));
  if (dependencies != nullptr) *dependencies = nodes.data();
  if (edges != nullptr) *edges = nullptr;  // no edge here carries data
  if (count != nullptr) *count = nodes.size();
  return CUDA_SUCCESS;
}

CUresult update(Call& call, CUstream handle, CUgraphNode* dependencies, std::size_t count,
                unsigned flags) {
  if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (count > 0 && dependencies == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  std::vector<GraphNode*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = call.runtime().graphs.nodes.find(dependencies[i]);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    nodes.push_back(found->node);
  }
  return to_result(call.runtime().captures.set_dependencies(
      stream.id, nodes, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

}  // namespace

CaptureStream capture_stream(const Stream& stream) {
  CaptureStream out;
  out.id = stream.id;
  out.ordinal = stream.context->ordinal;
  out.context = stream.context->id;
  out.legacy = stream.handle == nullptr;
  out.non_blocking = (stream.flags & CU_STREAM_NON_BLOCKING) != 0;
  return out;
}

CaptureMode& thread_capture_mode() {
  thread_local CaptureMode mode = CaptureMode::global;
  return mode;
}

CUresult refuse_on_captured(const Call& call, const Stream& stream) {
  Captures& captures = call.runtime().captures;
  return captures.any() ? to_result(captures.touch_stream(capture_stream(stream))) : CUDA_SUCCESS;
}

CUresult refuse_unsafe(const Call& call) {
  Captures& captures = call.runtime().captures;
  return captures.any() ? to_result(captures.unsafe_call(thread_capture_mode())) : CUDA_SUCCESS;
}

bool unsafe_in_capture(const char* api) {
  constexpr std::string_view kNames[] = {
      "cuMemAlloc",    "cuMemAllocHost", "cuMemAllocPitch",   "cuMemFree",
      "cuMemFreeHost", "cuMemHostAlloc", "cuMemHostRegister", "cuMemHostUnregister"};
  return std::find(std::begin(kNames), std::end(kNames), std::string_view(api)) != std::end(kNames);
}

CUresult cuStreamBeginCapture_v2(Call& call, CUstream handle, CUstreamCaptureMode mode) {
  if (!known(mode)) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  return to_result(
      call.runtime().captures.begin(capture_stream(stream), static_cast<CaptureMode>(mode)));
}

// The form of CUDA 10.0, before there were modes.
CUresult cuStreamBeginCapture(Call& call, CUstream stream) {
  return cuStreamBeginCapture_v2(call, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamEndCapture(Call& call, CUstream handle, CUgraph* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  std::shared_ptr<Graph> graph;
  const Code code = call.runtime().captures.end(stream.id, graph);
  if (code == Code::success) *out = call.runtime().graphs.name(graph);
  return to_result(code);
}

CUresult cuStreamIsCapturing(Call& call, CUstream stream, CUstreamCaptureStatus* status) {
  CaptureInfo out;
  return info(call, stream, status, nullptr, out);
}

CUresult cuStreamGetCaptureInfo(Call& call, CUstream stream, CUstreamCaptureStatus* status,
                                cuuint64_t* id) {
  CaptureInfo out;
  return info(call, stream, status, id, out);
}

CUresult cuStreamGetCaptureInfo_v2(Call& call, CUstream stream, CUstreamCaptureStatus* status,
                                   cuuint64_t* id, CUgraph* graph, const CUgraphNode** dependencies,
                                   std::size_t* count) {
  return full_info(call, stream, status, id, graph, dependencies, nullptr, count);
}

CUresult cuStreamGetCaptureInfo_v3(Call& call, CUstream stream, CUstreamCaptureStatus* status,
                                   cuuint64_t* id, CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, std::size_t* count) {
  if (edges != nullptr && dependencies == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return full_info(call, stream, status, id, graph, dependencies, edges, count);
}

CUresult cuStreamUpdateCaptureDependencies(Call& call, CUstream stream, CUgraphNode* dependencies,
                                           std::size_t count, unsigned int flags) {
  return update(call, stream, dependencies, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(Call& call, CUstream stream,
                                              CUgraphNode* dependencies,
                                              const CUgraphEdgeData* data, std::size_t count,
                                              unsigned int flags) {
  static Told told;
  if (data != nullptr) return call.not_modelled(told, "data on the edges of a graph");
  return update(call, stream, dependencies, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(Call&, CUstreamCaptureMode* mode) {
  if (mode == nullptr || !known(*mode)) return CUDA_ERROR_INVALID_VALUE;
  const CaptureMode before = thread_capture_mode();
  thread_capture_mode() = static_cast<CaptureMode>(*mode);
  *mode = static_cast<CUstreamCaptureMode>(before);
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

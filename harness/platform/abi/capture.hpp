#pragma once

#include <cuda.h>

#include "harness/platform/abi/call.hpp"
#include "harness/platform/process/capture.hpp"

namespace symmcts::platform::abi {

CaptureStream capture_stream(const Stream& stream);

// The calling thread's mode (cuda.h:cuThreadExchangeStreamCaptureMode).
CaptureMode& thread_capture_mode();

// Is work on the stream captured, or refused because of a capture? Then `result` is the call's
// result, and what `make` returns has become a node of the graph. Otherwise the caller enqueues it.
template <typename Make>
bool captured(const Call& call, const Stream& stream, CUresult& result, Make make) {
  Captures& captures = call.runtime().captures;
  if (!captures.any()) return false;
  bool in_graph = false;
  result = to_result(captures.may_enqueue(capture_stream(stream), in_graph));
  if (result == CUDA_SUCCESS && in_graph) {
    result = to_result(captures.add(capture_stream(stream), make()));
  }
  return result != CUDA_SUCCESS || in_graph;
}

// For what cannot be captured: an error, which invalidates the capture, where the stream takes part
// in one.
CUresult refuse_on_captured(const Call& call, const Stream& stream);
// For a call that waits on the stream or is otherwise invisible to captures (cudaMalloc is the
// documented example; a query of any event is reported, pytorch#104555): an error where a capture
// forbids it to this thread.
CUresult refuse_unsafe(const Call& call);

// The calls that refuse_unsafe() is for, as far as they allocate or free. cuMemCreate,
// cuMemAddressReserve and cuMemMap are not among them (measured,
// hardware/h200-x2/stream-memory-ops.txt); that the others behave like cudaMalloc is inferred.
bool unsafe_in_capture(const char* api);

}  // namespace symmcts::platform::abi

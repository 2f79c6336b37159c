// Streams.
#include <algorithm>
#include <utility>

#include "harness/platform/abi/capture.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

CUresult create(Call& call, CUstream* out, unsigned flags, int priority) {
  if (out == nullptr || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  auto stream = std::make_shared<Stream>();
  stream->context = context;
  stream->flags = flags;
  stream->priority = std::min(0, std::max(-5, priority));  // cuda.h: clamped to the range
  stream->id = call.runtime().streams->create(context->ordinal, flags != 0);
  call.runtime().records.belongs(stream->id, context->id);
  *out = call.runtime().stream_handles.insert(stream);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuStreamCreate(Call& call, CUstream* out, unsigned int flags) {
  return create(call, out, flags, 0);
}

CUresult cuStreamCreateWithPriority(Call& call, CUstream* out, unsigned int flags, int priority) {
  return create(call, out, flags, priority);
}

// Returns at once; work that is enqueued still runs (cuda.h:cuStreamDestroy).
CUresult cuStreamDestroy_v2(Call& call, CUstream handle) {
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  const auto stream = call.runtime().stream_handles.take(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  call.runtime().captures.forget_stream(stream->id);
  return to_result(call.runtime().streams->destroy(stream->id));
}

CUresult cuStreamDestroy(Call& call, CUstream handle) { return cuStreamDestroy_v2(call, handle); }

// A query of any stream is refused where a capture forbids unsafe calls (measured,
// fixtures/oracles/h200-x2/error-table.txt); that waiting is too is inferred.
CUresult cuStreamSynchronize(Call& call, CUstream handle) {
  Stream stream;
  CUresult error = call.need_stream(handle, stream);
  if (error == CUDA_SUCCESS) error = refuse_on_captured(call, stream);
  if (error == CUDA_SUCCESS) error = refuse_unsafe(call);
  if (error != CUDA_SUCCESS) return error;
  return to_result(call.runtime().streams->synchronize(stream.id));
}

CUresult cuStreamQuery(Call& call, CUstream handle) {
  Stream stream;
  CUresult error = call.need_stream(handle, stream);
  if (error == CUDA_SUCCESS) error = refuse_on_captured(call, stream);
  if (error == CUDA_SUCCESS) error = refuse_unsafe(call);
  if (error != CUDA_SUCCESS) return error;
  return to_result(call.runtime().streams->query(stream.id));
}

CUresult cuStreamWaitEvent(Call& call, CUstream handle, CUevent event_handle, unsigned int flags) {
  if ((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  const auto event = call.runtime().events.find(event_handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  bool captured = false;
  const Code code = call.runtime().captures.wait(capture_stream(stream), event->id, flags != 0,
                                                 event->recorded, captured);
  if (code != Code::success || captured) return to_result(code);
  return to_result(call.runtime().streams->wait_event(stream.id, event->id));
}

CUresult cuStreamGetCtx(Call& call, CUstream handle, CUcontext* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  *out = stream.context->handle;
  return CUDA_SUCCESS;
}

// Green contexts are not modelled, so no stream belongs to one.
CUresult cuStreamGetCtx_v2(Call& call, CUstream handle, CUcontext* out, CUgreenCtx* green) {
  if (out == nullptr || green == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *green = nullptr;
  return cuStreamGetCtx(call, handle, out);
}

CUresult cuStreamGetDevice(Call& call, CUstream handle, CUdevice* device) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  *device = stream.context->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(Call& call, CUstream handle, unsigned long long* id) {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  *id = stream.id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(Call& call, CUstream handle, unsigned int* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  *flags = stream.flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(Call& call, CUstream handle, int* priority) {
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  *priority = stream.priority;
  return CUDA_SUCCESS;
}

// Not called after an error of device work, unlike a callback (cuda.h:cuLaunchHostFunc).
CUresult cuLaunchHostFunc(Call& call, CUstream handle, CUhostFn function, void* data) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  Streams* streams = call.runtime().streams.get();
  auto work = host_function([streams, function, data] {
    if (streams->sticky_error() == Code::success) function(data);
  });
  CUresult result = CUDA_SUCCESS;
  if (captured(call, stream, result, [&] { return HostWork{work}; })) return result;
  return to_result(streams->host_function(stream.id, std::move(work)));
}

CUresult cuStreamAddCallback(Call& call, CUstream handle, CUstreamCallback callback, void* data,
                             unsigned int flags) {
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream stream;
  CUresult error = call.need_stream(handle, stream);
  // cuda.h: not supported in a capture, unlike cuLaunchHostFunc.
  if (error == CUDA_SUCCESS) error = refuse_on_captured(call, stream);
  if (error != CUDA_SUCCESS) return error;
  Streams* streams = call.runtime().streams.get();
  return to_result(
      streams->host_function(stream.id, host_function([streams, handle, callback, data] {
                               callback(handle, to_result(streams->sticky_error()), data);
                             })));
}

}  // namespace symmcts::platform::abi

// Events.
#include "harness/platform/abi/capture.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// An event that a capture recorded cannot be asked for or waited for, nor, in most modes, any event
// while a capture runs (reported: pytorch#104555, a watchdog's cudaEventQuery).
CUresult refuse_in_capture(const Call& call, const Event& event, bool unsafe) {
  Captures& captures = call.runtime().captures;
  const CUresult error = to_result(captures.touch_event(event.id));
  return error == CUDA_SUCCESS && unsafe ? refuse_unsafe(call) : error;
}

}  // namespace

CUresult cuEventCreate(Call& call, CUevent* out, unsigned int flags) {
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if (out == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  const bool timing = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  const bool interprocess = (flags & CU_EVENT_INTERPROCESS) != 0;
  if (interprocess && timing) return CUDA_ERROR_INVALID_VALUE;  // cuda.h:cuEventCreate
  static Told told;
  if (interprocess) return call.not_modelled(told, "an event for other processes");
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  auto event = std::make_shared<Event>();
  event->context = context;
  event->id = call.runtime().streams->create_event(timing);
  *out = call.runtime().events.insert(event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(Call& call, CUevent handle) {
  const auto event = call.runtime().events.take(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  call.runtime().captures.forget_event(event->id);
  return to_result(call.runtime().streams->destroy_event(event->id));
}

CUresult cuEventDestroy(Call& call, CUevent handle) { return cuEventDestroy_v2(call, handle); }

CUresult cuEventRecordWithFlags(Call& call, CUevent handle, CUstream stream_handle,
                                unsigned int flags) {
  if ((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Stream stream;
  if (const CUresult error = call.need_stream(stream_handle, stream); error != CUDA_SUCCESS) {
    return error;
  }
  const auto event = call.runtime().events.find(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  // Event and stream must belong to one context (cuda.h:cuEventRecord).
  if (event->context != stream.context) return CUDA_ERROR_INVALID_HANDLE;
  bool captured = false;
  const Code code =
      call.runtime().captures.record(capture_stream(stream), event->id, flags != 0, captured);
  if (code != Code::success || captured) return to_result(code);
  event->recorded = true;
  return to_result(call.runtime().streams->record(event->id, stream.id));
}

CUresult cuEventRecord(Call& call, CUevent handle, CUstream stream) {
  return cuEventRecordWithFlags(call, handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventQuery(Call& call, CUevent handle) {
  const auto event = call.runtime().events.find(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult error = refuse_in_capture(call, *event, true); error != CUDA_SUCCESS) {
    return error;
  }
  return to_result(call.runtime().streams->query_event(event->id));
}

CUresult cuEventSynchronize(Call& call, CUevent handle) {
  const auto event = call.runtime().events.find(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult error = refuse_in_capture(call, *event, true); error != CUDA_SUCCESS) {
    return error;
  }
  return to_result(call.runtime().streams->synchronize_event(event->id));
}

CUresult cuEventElapsedTime(Call& call, float* milliseconds, CUevent start, CUevent end) {
  // Measured; the manual's INVALID_VALUE is not what the driver answers.
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto first = call.runtime().events.find(start);
  const auto last = call.runtime().events.find(end);
  if (!first || !last) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& event : {first, last}) {
    if (const CUresult error = refuse_in_capture(call, *event, false); error != CUDA_SUCCESS) {
      return error;
    }
  }
  return to_result(call.runtime().streams->elapsed(first->id, last->id, *milliseconds));
}

CUresult cuEventElapsedTime_v2(Call& call, float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(call, milliseconds, start, end);
}

}  // namespace symmcts::platform::abi

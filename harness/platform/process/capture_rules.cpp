// What events and the host do to a capture.
#include "harness/platform/process/capture.hpp"

namespace symmcts::platform {

Code Captures::record(const CaptureStream& stream, EventId event, bool external, bool& captured) {
  captured = false;
  if (!used_) return external ? Code::invalid_value : Code::success;
  if (const Code code = may_enqueue(stream, captured); code != Code::success) return code;
  if (external && !captured) return Code::invalid_value;  // cuda.h:cuEventRecordWithFlags
  if (external) return add(stream, RecordWork{event});
  std::lock_guard lock(mutex_);
  events_.erase(event);
  if (!captured) return Code::success;
  if (const Captured* found = find(stream.id)) {
    events_[event] = {found->capture, found->dependencies};
  }
  return Code::success;
}

// Codes of waits for an event of a capture that has ended, and of the legacy stream's, are inferred
// from their descriptions in cuda.h.
Code Captures::wait(const CaptureStream& stream, EventId event, bool external, bool recorded,
                    bool& captured) {
  captured = false;
  if (!used_) return external ? Code::invalid_value : Code::success;
  if (const Code code = may_enqueue(stream, captured); code != Code::success) return code;
  if (external && !captured) return Code::invalid_value;  // cuda.h:cuStreamWaitEvent
  if (external) return add(stream, WaitWork{event});
  std::lock_guard lock(mutex_);
  Captured* own = find(stream.id);
  const auto at = events_.find(event);
  if (at == events_.end()) {
    // Work outside of the capture: only a never recorded event is no work at all.
    if (own == nullptr || !recorded) return Code::success;
    own->capture->invalid = true;
    return Code::stream_capture_isolation;
  }
  const CapturedEvent& other = at->second;
  captured = true;
  if (other.capture->ended) {
    if (own != nullptr) own->capture->invalid = true;
    return Code::stream_capture_isolation;
  }
  if (other.capture->invalid) return Code::stream_capture_invalidated;
  if (own == nullptr) {
    if (stream.legacy) {
      other.capture->invalid = true;
      return Code::stream_capture_implicit;
    }
    streams_[stream.id] = {other.capture, stream, other.dependencies};
    return Code::success;
  }
  if (own->capture != other.capture) {
    own->capture->invalid = other.capture->invalid = true;
    return Code::stream_capture_merge;
  }
  join(own->dependencies, other.dependencies);
  return Code::success;
}

Code Captures::touch_stream(const CaptureStream& stream) {
  std::lock_guard lock(mutex_);
  Captured* found = nullptr;
  const Code code = use(stream, found);
  if (code != Code::success || found == nullptr) return code;
  found->capture->invalid = true;
  return Code::stream_capture_unsupported;
}

Code Captures::touch_event(EventId event) {
  if (!used_) return Code::success;
  std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return Code::success;
  found->second.capture->invalid = true;
  return Code::captured_event;
}

Code Captures::touch_context(std::uint32_t context) {
  std::lock_guard lock(mutex_);
  bool any = false;
  for (auto& [id, captured] : streams_) {
    if (captured.stream.context != context) continue;
    captured.capture->invalid = any = true;
  }
  return any ? Code::stream_capture_unsupported : Code::success;
}

Code Captures::unsafe_call(CaptureMode mode) {
  if (mode == CaptureMode::relaxed) return Code::success;
  std::lock_guard lock(mutex_);
  bool any = false;
  for (auto& [id, captured] : streams_) {
    Capture& capture = *captured.capture;
    const bool own = capture.thread == std::this_thread::get_id();
    const bool refuses = own ? capture.mode != CaptureMode::relaxed
                             : capture.mode == CaptureMode::global && mode == CaptureMode::global;
    if (!refuses) continue;
    capture.invalid = any = true;
  }
  return any ? Code::stream_capture_unsupported : Code::success;
}

void Captures::forget_event(EventId event) {
  std::lock_guard lock(mutex_);
  events_.erase(event);
}

}  // namespace symmcts::platform

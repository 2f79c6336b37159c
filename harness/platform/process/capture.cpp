#include "harness/platform/process/capture.hpp"

#include <algorithm>
#include <utility>

namespace symmcts::platform {

void Captures::join(std::vector<GraphNode*>& into, const std::vector<GraphNode*>& more) {
  for (GraphNode* node : more) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

Captures::Captured* Captures::find(StreamId stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

const Captures::Captured* Captures::find(StreamId stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

bool Captures::implicit(const CaptureStream& stream) const {
  return stream.legacy && std::any_of(streams_.begin(), streams_.end(), [&](const auto& entry) {
           const CaptureStream& other = entry.second.stream;
           return other.context == stream.context && !other.non_blocking;
         });
}

void Captures::invalidate_implicit(const CaptureStream& stream) {
  for (auto& [id, captured] : streams_) {
    const CaptureStream& other = captured.stream;
    if (other.context == stream.context && !other.non_blocking) captured.capture->invalid = true;
  }
}

Code Captures::begin(const CaptureStream& stream, CaptureMode mode) {
  std::lock_guard lock(mutex_);
  if (stream.legacy) return Code::stream_capture_unsupported;
  if (find(stream.id) != nullptr) return Code::illegal_state;
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture_++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.id;
  capture->graph = std::make_shared<Graph>(next_graph());
  capture->graph->origin = stream.id;
  streams_[stream.id] = {std::move(capture), stream, {}};
  ++running_;
  used_ = true;
  return Code::success;
}

Code Captures::end(StreamId stream, std::shared_ptr<Graph>& out) {
  std::lock_guard lock(mutex_);
  const Captured* found = find(stream);
  if (found == nullptr) return Code::illegal_state;
  const CapturePtr capture = found->capture;
  if (capture->origin != stream) {
    capture->invalid = true;
    return Code::stream_capture_unmatched;
  }
  if (capture->mode != CaptureMode::relaxed && capture->thread != std::this_thread::get_id()) {
    return Code::stream_capture_wrong_thread;
  }
  const std::vector<GraphNode*> ends = found->dependencies;
  std::erase_if(streams_, [&](const auto& entry) { return entry.second.capture == capture; });
  capture->ended = true;
  --running_;
  if (capture->invalid) return Code::stream_capture_invalidated;
  if (!joined(*capture, ends)) return Code::stream_capture_unjoined;
  out = capture->graph;
  return Code::success;
}

// Does everything that was captured come before the end of the stream that the capture began on?
bool Captures::joined(const Capture& capture, const std::vector<GraphNode*>& ends) {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> open(ends.begin(), ends.end());
  open.insert(open.end(), capture.let_go.begin(), capture.let_go.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return reached.size() == capture.graph->nodes().size();
}

Code Captures::info(const CaptureStream& stream, CaptureInfo& out) const {
  std::lock_guard lock(mutex_);
  if (implicit(stream)) return Code::stream_capture_implicit;
  out = {};
  const Captured* found = find(stream.id);
  if (found == nullptr) return Code::success;
  out.status = found->capture->invalid ? CaptureStatus::invalidated : CaptureStatus::active;
  if (out.status == CaptureStatus::active) {
    out.id = found->capture->id;
    out.graph = found->capture->graph;
    out.dependencies = found->dependencies;
  }
  return Code::success;
}

Code Captures::set_dependencies(StreamId stream, const std::vector<GraphNode*>& nodes,
                                bool replace) {
  std::lock_guard lock(mutex_);
  Captured* found = find(stream);
  if (found == nullptr) return Code::illegal_state;
  Capture& capture = *found->capture;
  if (capture.invalid) return Code::stream_capture_invalidated;
  for (const GraphNode* node : nodes) {
    if (!capture.graph->owns(node)) return Code::invalid_value;
  }
  if (replace) {
    capture.let_go.insert(found->dependencies.begin(), found->dependencies.end());
    found->dependencies.clear();
  }
  join(found->dependencies, nodes);
  return Code::success;
}

Code Captures::use(const CaptureStream& stream, Captured*& found) {
  if (implicit(stream)) {
    invalidate_implicit(stream);
    return Code::stream_capture_implicit;
  }
  found = find(stream.id);
  const bool invalid = found != nullptr && found->capture->invalid;
  return invalid ? Code::stream_capture_invalidated : Code::success;
}

Code Captures::may_enqueue(const CaptureStream& stream, bool& captured) {
  std::lock_guard lock(mutex_);
  Captured* found = nullptr;
  const Code code = use(stream, found);
  captured = code == Code::success && found != nullptr;
  return code;
}

Code Captures::add(const CaptureStream& stream, GraphWork work) {
  std::lock_guard lock(mutex_);
  Captured* found = find(stream.id);
  if (found == nullptr) return Code::illegal_state;
  if (found->capture->invalid) return Code::stream_capture_invalidated;
  GraphNode& node = found->capture->graph->add(std::move(work), stream.id, stream.ordinal,
                                               std::move(found->dependencies));
  found->dependencies = {&node};
  return Code::success;
}

void Captures::forget_stream(StreamId stream) {
  std::lock_guard lock(mutex_);
  Captured* found = find(stream);
  if (found == nullptr) return;
  // What ends on it can be joined no more; without its origin the capture cannot be ended either.
  const CapturePtr capture = found->capture;
  capture->invalid = true;
  streams_.erase(stream);
  if (capture->origin != stream) return;
  std::erase_if(streams_, [&](const auto& entry) { return entry.second.capture == capture; });
  capture->ended = true;
  --running_;
}

}  // namespace symmcts::platform

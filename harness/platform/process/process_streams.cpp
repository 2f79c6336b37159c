#include "harness/platform/process/process_streams.hpp"

#include <utility>

namespace symmcts::platform {
namespace {

constexpr StreamId kDefaultStream = 7;  // as a device's default stream is numbered in real traces

}  // namespace

std::unique_ptr<Streams> Streams::make(Client& client, const Profile& profile) {
  return std::make_unique<ProcessStreams>(client, profile);
}

ProcessStreams::ProcessStreams(Client& client, const Profile& profile)
    : client_(client), profile_(profile), executor_(client, profile) {}

void ProcessStreams::attach(Memory& memory, RecordSink& sink) {
  memory_ = &memory;
  sink_ = &sink;
}

// Precondition: the lock is held.
StreamId ProcessStreams::add_stream(int ordinal, bool legacy, bool non_blocking) {
  const StreamId id =
      legacy && !streams_.contains(kDefaultStream) ? kDefaultStream : next_stream_++;
  streams_[id] = ordinal;
  if (legacy) default_streams_[ordinal] = id;
  executor_.with(
      [&](Timeline& timeline) { timeline.add_stream(id, ordinal, legacy, non_blocking); });
  return id;
}

StreamId ProcessStreams::default_stream(int ordinal) {
  std::lock_guard lock(mutex_);
  const auto found = default_streams_.find(ordinal);
  return found != default_streams_.end() ? found->second : add_stream(ordinal, true, false);
}

StreamId ProcessStreams::create(int ordinal, bool non_blocking) {
  // The default stream is numbered first, as in real traces.
  default_stream(ordinal);
  std::lock_guard lock(mutex_);
  return add_stream(ordinal, false, non_blocking);
}

Code ProcessStreams::destroy(StreamId stream) {
  std::lock_guard lock(mutex_);
  if (streams_.erase(stream) == 0) return Code::invalid_handle;
  std::erase_if(default_streams_, [&](const auto& entry) { return entry.second == stream; });
  executor_.with([&](Timeline& timeline) { timeline.remove_stream(stream, executor_.now()); });
  executor_.stream_ended(stream);
  return Code::success;
}

int ProcessStreams::find(StreamId stream) const {
  std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? -1 : found->second;
}

bool ProcessStreams::known(StreamId stream) { return find(stream) >= 0; }
int ProcessStreams::device_of(StreamId stream) { return find(stream); }

Code ProcessStreams::may_enqueue(StreamId stream, int& ordinal) const {
  ordinal = find(stream);
  if (ordinal < 0) return Code::invalid_handle;
  return sticky_error();
}

void ProcessStreams::fail(Code code) {
  Code expected = Code::success;
  sticky_.compare_exchange_strong(expected, code);
}

void ProcessStreams::spend(const char* function) { executor_.spend(profile_.call_cost(function)); }

void ProcessStreams::managed() { client_.declare_managed(); }

// --- waiting

Code ProcessStreams::synchronize(StreamId stream) {
  if (find(stream) < 0) return Code::invalid_handle;
  OpPtr last = executor_.with([&](Timeline& timeline) { return timeline.last(stream); });
  executor_.wait_for({std::move(last)}, "cuStreamSynchronize");
  return sticky_error();
}

Code ProcessStreams::synchronize_device(int ordinal) {
  auto ops = executor_.with([&](Timeline& timeline) { return timeline.last_of_device(ordinal); });
  executor_.wait_for(std::move(ops), "cuCtxSynchronize");
  return sticky_error();
}

Code ProcessStreams::query(StreamId stream) {
  if (find(stream) < 0) return Code::invalid_handle;
  const OpPtr last = executor_.with([&](Timeline& timeline) { return timeline.last(stream); });
  const bool done = executor_.poll(last, profile_.call_cost("poll"), "cuStreamQuery");
  if (sticky_error() != Code::success) return sticky_error();
  return done ? Code::success : Code::not_ready;
}

// --- events

EventId ProcessStreams::create_event(bool timing) {
  std::lock_guard lock(mutex_);
  events_[next_event_].timing = timing;
  return next_event_++;
}

Code ProcessStreams::destroy_event(EventId event) {
  std::lock_guard lock(mutex_);
  return events_.erase(event) == 0 ? Code::invalid_handle : Code::success;
}

bool ProcessStreams::find(EventId event, EventState& out) const {
  std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  out = found->second;
  return true;
}

Code ProcessStreams::record(EventId event, StreamId stream) {
  EventState state;
  int ordinal = 0;
  if (!find(event, state)) return Code::invalid_handle;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  OpPtr op =
      executor_.add([&](Timeline& timeline, Ns now) { return timeline.marker(stream, now); });
  std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found != events_.end()) found->second.op = std::move(op);
  return Code::success;
}

Code ProcessStreams::wait_event(StreamId stream, EventId event) {
  EventState state;
  int ordinal = 0;
  if (!find(event, state)) return Code::invalid_handle;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  if (state.op == nullptr) return Code::success;
  executor_.add([&](Timeline& timeline, Ns now) { return timeline.marker(stream, now, state.op); });
  return Code::success;
}

Code ProcessStreams::query_event(EventId event) {
  EventState state;
  if (!find(event, state)) return Code::invalid_handle;
  const bool done = executor_.poll(state.op, profile_.call_cost("poll"), "cuEventQuery");
  if (sticky_error() != Code::success) return sticky_error();
  return done ? Code::success : Code::not_ready;
}

Code ProcessStreams::synchronize_event(EventId event) {
  EventState state;
  if (!find(event, state)) return Code::invalid_handle;
  executor_.wait_for({state.op}, "cuEventSynchronize");
  return sticky_error();
}

Code ProcessStreams::elapsed(EventId start, EventId end, float& milliseconds) {
  EventState from, to;
  if (!find(start, from) || !find(end, to)) return Code::invalid_handle;
  if (!from.timing || !to.timing || from.op == nullptr || to.op == nullptr) {
    return Code::invalid_handle;
  }
  if (!executor_.poll(from.op, 0, "cuEventElapsedTime") ||
      !executor_.poll(to.op, 0, "cuEventElapsedTime")) {
    return Code::not_ready;
  }
  const double ns = static_cast<double>(to.op->end) - static_cast<double>(from.op->end);
  milliseconds = static_cast<float>(ns / 1e6);
  return Code::success;
}

}  // namespace symmcts::platform

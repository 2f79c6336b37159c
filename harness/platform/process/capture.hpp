#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "harness/platform/model/units.hpp"
#include "harness/platform/process/graph.hpp"

namespace symmcts::platform {

// With the numbers of cuda.h:CUstreamCaptureMode and CUstreamCaptureStatus.
enum class CaptureMode : std::uint8_t { global = 0, thread_local_only = 1, relaxed = 2 };
enum class CaptureStatus : std::uint8_t { none = 0, active = 1, invalidated = 2 };

// A stream as the rules of capture see it.
struct CaptureStream {
  StreamId id = 0;
  int ordinal = 0;
  std::uint32_t context = 0;
  bool legacy = false;        // the context's legacy default stream
  bool non_blocking = false;  // does not order itself against the legacy stream
};

struct CaptureInfo {
  CaptureStatus status = CaptureStatus::none;
  std::uint64_t id = 0;
  std::shared_ptr<Graph> graph;
  std::vector<GraphNode*> dependencies;  // of the next node on the stream
};

// The stream captures of a process, by the rules of cuda.h (cuStreamBeginCapture,
// cuThreadExchangeStreamCaptureMode, the codes CUDA_ERROR_STREAM_CAPTURE_*) and of the CUDA
// programming guide ("Prohibited and Unhandled Operations", "Invalidation"): an operation that
// breaks a rule fails and invalidates every capture that it touches; an invalidated capture refuses
// everything until it is ended, which yields no graph. Thread safe.
class Captures {
 public:
  // Is any stream being captured? All there is to ask where none is.
  bool any() const { return running_.load(std::memory_order_acquire) > 0; }

  Code begin(const CaptureStream& stream, CaptureMode mode);
  Code end(StreamId stream, std::shared_ptr<Graph>& out);
  // stream_capture_implicit for the legacy stream beside the capture of a blocking one; that does
  // not invalidate.
  Code info(const CaptureStream& stream, CaptureInfo& out) const;
  // Replaces or extends the set that the next node depends on. illegal_state without a capture.
  Code set_dependencies(StreamId stream, const std::vector<GraphNode*>& nodes, bool replace);

  // Asked before anything is enqueued on a stream. `captured`: it belongs into a graph.
  Code may_enqueue(const CaptureStream& stream, bool& captured);
  // Precondition: may_enqueue said captured.
  Code add(const CaptureStream& stream, GraphWork work);

  // An event is recorded on, or waited for by, a stream. `captured`: the capture has done it;
  // otherwise the caller does it. `recorded`: the event has been recorded outside of captures.
  Code record(const CaptureStream& stream, EventId event, bool external, bool& captured);
  Code wait(const CaptureStream& stream, EventId event, bool external, bool recorded,
            bool& captured);

  // The host asks for or waits for a stream, an event, or all work of a context.
  Code touch_stream(const CaptureStream& stream);
  Code touch_event(EventId event);
  Code touch_context(std::uint32_t context);
  // A call that capture could not see (cuda.h:cuThreadExchangeStreamCaptureMode), by a thread in
  // the given mode.
  Code unsafe_call(CaptureMode mode);
  void forget_stream(StreamId stream);
  void forget_event(EventId event);

  std::uint32_t next_graph() { return ++graphs_; }

 private:
  struct Capture {
    std::uint64_t id = 0;
    CaptureMode mode{};
    std::thread::id thread;
    StreamId origin = 0;
    std::shared_ptr<Graph> graph;
    bool invalid = false, ended = false;
    std::set<const GraphNode*> let_go;  // taken out of a dependency set on purpose
  };
  using CapturePtr = std::shared_ptr<Capture>;
  struct Captured {
    CapturePtr capture;
    CaptureStream stream;
    std::vector<GraphNode*> dependencies;
  };
  struct CapturedEvent {
    CapturePtr capture;
    std::vector<GraphNode*> dependencies;
  };

  Captured* find(StreamId stream);
  const Captured* find(StreamId stream) const;
  bool implicit(const CaptureStream& stream) const;
  void invalidate_implicit(const CaptureStream& stream);
  // Precondition of both: the lock is held. A stream is used: its capture, or null if it is not
  // captured; an error where it must not be used.
  Code use(const CaptureStream& stream, Captured*& found);
  // Adds those of `more` that are not there yet.
  static void join(std::vector<GraphNode*>& into, const std::vector<GraphNode*>& more);
  static bool joined(const Capture& capture, const std::vector<GraphNode*>& ends);

  mutable std::mutex mutex_;
  std::map<StreamId, Captured> streams_;
  std::map<EventId, CapturedEvent> events_;
  std::atomic<int> running_{0};
  std::atomic<bool> used_{false};  // a capture has begun at some time
  std::uint64_t next_capture_ = 1;
  std::atomic<std::uint32_t> graphs_{0};
};

}  // namespace symmcts::platform

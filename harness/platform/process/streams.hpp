#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "harness/platform/process/memory.hpp"

namespace symmcts::platform {

// Copy kinds and memory kinds with CUPTI's numbers (cupti_activity.h).
enum class CopyKind : std::uint8_t { htod = 1, dtoh = 2, dtod = 8, htoh = 9, ptop = 10 };
enum class MemoryKind : std::uint8_t { pageable = 1, pinned = 2, device = 3 };

// The call that a piece of work came from; `graph` and `node` are 0 outside the launch of a graph.
struct Origin {
  // Not explicit: nearly all work comes from a call of its own.
  Origin(std::uint32_t call) : correlation(call) {}
  Origin(std::uint32_t call, std::uint32_t graph_id, std::uint64_t node_id)
      : correlation(call), graph(graph_id), node(node_id) {}
  std::uint32_t correlation = 0;
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};

// A finished copy, as an activity record shows it.
struct CopyRecord {
  CopyKind kind{};
  MemoryKind source_kind{}, destination_kind{};
  bool async = true;
  std::uint64_t bytes = 0;
  Ns start = 0, end = 0;
  int device = 0;                                 // ordinal of the device whose engine worked
  int source_device = 0, destination_device = 0;  // ordinals; meaningful for ptop
  std::uint32_t context = 0, stream = 0, correlation = 0;
  std::uint32_t channel = 0, channel_type = 0;  // 1 compute, 2 asynchronous copy
  std::uint64_t copies = 1;                     // of a batch that became one
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};

struct FillRecord {
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
  Ns start = 0, end = 0;
  int device = 0;
  std::uint32_t context = 0, stream = 0, correlation = 0;
  std::uint32_t channel = 0, channel_type = 0;
  bool async = true;
  std::uint32_t graph = 0;
  std::uint64_t node = 0;
};

// A fill of rows that lie `pitch` bytes apart.
struct FillShape {
  std::uint64_t destination = 0;
  std::uint32_t value = 0;
  int width = 1;            // of an element, in bytes
  std::uint64_t count = 0;  // elements in a row
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;  // unused where there is one row
};

// One copy of several that are enqueued together.
struct CopySpan {
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t bytes = 0;
  bool read_now = false;      // a pageable source is read at the call, else in stream order
  bool through_host = false;  // the device may not address the peer's end
};

// Takes finished work, in the order in which it completed in virtual time. Called on the executor
// thread with no lock of Streams held.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on_copy(const CopyRecord& record) = 0;
  virtual void on_fill(const FillRecord& record) = 0;
};

using StreamId = std::uint32_t;  // as CUPTI shows it; 7 is a device's default stream
using EventId = std::uint64_t;

// One process's device work in virtual time: host clock, streams, events, copy engines, and the
// executor thread that runs them. What is certain runs at once; what could still be overtaken by an
// event of another rank waits for the broker's grant, so that the result never depends on load.
// Thread safe.
class Streams : public HostClock {
 public:
  // `client` and `profile` must outlive it.
  static std::unique_ptr<Streams> make(Client& client, const Profile& profile);
  // Two-step construction: Memory needs the clock, Streams needs the memory.
  virtual void attach(Memory& memory, RecordSink& sink) = 0;

  // Streams. Each device has a legacy default stream, made at first use.
  virtual StreamId default_stream(int ordinal) = 0;
  virtual StreamId create(int ordinal, bool non_blocking) = 0;
  virtual Code destroy(StreamId stream) = 0;
  virtual bool known(StreamId stream) = 0;
  virtual int device_of(StreamId stream) = 0;

  // Enqueue at the present host time; nothing waits. Arguments have been checked by the caller.
  // A copy's kind, engine and channel follow the profile's rules (design, section 2). A pageable
  // source is read at the call; a copy into pageable memory blocks until it is done.
  virtual Code copy(StreamId stream, std::uint64_t destination, std::uint64_t source,
                    std::uint64_t bytes, Origin origin, bool async) = 0;
  // Copies in stream order as a whole. Neighbours of one kind over the same two devices become one
  // operation with one record; local copies keep their own (measured for cuMemcpyBatchAsync). Never
  // waits.
  virtual Code copies(StreamId stream, const std::vector<CopySpan>& spans, Origin origin) = 0;
  virtual Code fill(StreamId stream, const FillShape& shape, Origin origin, bool async) = 0;
  virtual Code write_value(StreamId stream, std::uint64_t address, std::uint64_t value,
                           int width) = 0;
  // invalid_value for a multicast mapping (a wait is a read), not_supported for host memory.
  virtual Code wait_value(StreamId stream, std::uint64_t address, std::uint64_t value, int width,
                          WordTest test) = 0;
  virtual Code host_function(StreamId stream, std::function<void()> function) = 0;

  // Events.
  virtual EventId create_event(bool timing) = 0;
  virtual Code destroy_event(EventId event) = 0;
  virtual Code record(EventId event, StreamId stream) = 0;
  virtual Code wait_event(StreamId stream, EventId event) = 0;
  virtual Code query_event(EventId event) = 0;  // not_ready while pending
  virtual Code synchronize_event(EventId event) = 0;
  virtual Code elapsed(EventId start, EventId end, float& milliseconds) = 0;

  // Host synchronization: blocks this thread until the work is done; the host clock joins it.
  virtual Code synchronize(StreamId stream) = 0;
  virtual Code query(StreamId stream) = 0;  // a poll: costs host time
  virtual Code synchronize_device(int ordinal) = 0;

  // The host clock's cost of a driver call, by name, from the profile.
  virtual void spend(const char* function) = 0;

  // As symmcts_platform.h describes them.
  virtual void managed() = 0;
  virtual std::uint64_t message_out(int to) = 0;
  virtual int wait_begin(Ns deadline) = 0;
  virtual bool wait_end(const std::uint64_t* stamps, std::size_t count) = 0;

  // The process ends in order: tells the machine what it has not been told. Blocks until it knows.
  virtual void stopped() = 0;

  // The first sticky error of device work on this process (illegal_address), or success.
  virtual Code sticky_error() const = 0;
};

}  // namespace symmcts::platform

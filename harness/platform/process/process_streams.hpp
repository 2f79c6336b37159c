#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "harness/platform/process/channels.hpp"
#include "harness/platform/process/copy_plan.hpp"
#include "harness/platform/process/executor.hpp"
#include "harness/platform/process/streams.hpp"

namespace symmcts::platform {

// Streams (streams.hpp) on top of the executor: turns calls into operations of the timeline, and
// their completion into moved bytes, logged words and activity records.
class ProcessStreams final : public Streams {
 public:
  ProcessStreams(Client& client, const Profile& profile);

  Ns now() const override { return executor_.now(); }
  void advance_to(Ns at) override { executor_.advance_to(at); }
  void enter_blocking(const char* where) override { executor_.enter_blocking(where); }
  void leave_blocking(Ns at) override { executor_.leave_blocking(at); }

  void attach(Memory& memory, RecordSink& sink) override;

  StreamId default_stream(int ordinal) override;
  StreamId create(int ordinal, bool non_blocking) override;
  Code destroy(StreamId stream) override;
  bool known(StreamId stream) override;
  int device_of(StreamId stream) override;

  Code copy(StreamId stream, std::uint64_t destination, std::uint64_t source, std::uint64_t bytes,
            Origin origin, bool async) override;
  Code copies(StreamId stream, const std::vector<CopySpan>& spans, Origin origin) override;
  Code fill(StreamId stream, const FillShape& shape, Origin origin, bool async) override;
  Code write_value(StreamId stream, std::uint64_t address, std::uint64_t value, int width) override;
  Code wait_value(StreamId stream, std::uint64_t address, std::uint64_t value, int width,
                  WordTest test) override;
  Code host_function(StreamId stream, std::function<void()> function) override;

  EventId create_event(bool timing) override;
  Code destroy_event(EventId event) override;
  Code record(EventId event, StreamId stream) override;
  Code wait_event(StreamId stream, EventId event) override;
  Code query_event(EventId event) override;
  Code synchronize_event(EventId event) override;
  Code elapsed(EventId start, EventId end, float& milliseconds) override;

  Code synchronize(StreamId stream) override;
  Code query(StreamId stream) override;
  Code synchronize_device(int ordinal) override;

  void spend(const char* function) override;
  void managed() override;
  std::uint64_t message_out(int to) override { return executor_.message_out(to); }
  int wait_begin(Ns deadline) override { return executor_.wait_begin(deadline); }
  bool wait_end(const std::uint64_t* stamps, std::size_t count) override {
    return executor_.wait_end(stamps, count);
  }
  Code sticky_error() const override { return sticky_.load(); }
  void stopped() override { executor_.stopped(); }

 private:
  struct EventState {
    bool timing = true;
    OpPtr op;  // the last record; null: never recorded, which counts as done
  };

  StreamId add_stream(int ordinal, bool legacy, bool non_blocking);
  // Device of the stream, or -1 if there is no such stream.
  int find(StreamId stream) const;
  bool find(EventId event, EventState& out) const;
  // The code to return before any work is enqueued on the stream.
  Code may_enqueue(StreamId stream, int& ordinal) const;
  void fail(Code code);
  Code moved(Code code);
  std::uint32_t channel(const CopyRule& rule, int ordinal, StreamId stream);
  // How a record shows a copy that has not run yet. `rule`: whose channel it names.
  CopyRecord describe(const CopyPlan& plan, const CopyRule& rule, StreamId stream, int ordinal,
                      std::uint64_t bytes, const Origin& origin, bool async);
  FillRecord describe_fill(StreamId stream, int ordinal, std::uint64_t bytes, std::uint32_t value,
                           const Origin& origin, bool async);
  OpPtr copy_group(StreamId stream, const CopyPlan& plan, CopyRecord record,
                   std::vector<CopySpan> spans);
  // Takes a copy over the host's memory in pieces (process_streams_staged.cpp).
  void copy_through_host(StreamId stream, int ordinal, const CopyPlan& plan, const CopySpan& span,
                         const Origin& origin);
  // Notes what an operation in progress did, for the search for races.
  void wrote(std::uint64_t address, std::uint64_t bytes);
  void read(std::uint64_t address, std::uint64_t bytes);
  // What the executor must know of work that touches these bytes.
  Executor::Traits traits(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
  // A stream of the platform's own, on a device.
  StreamId helper(int ordinal);
  void show(CopyRecord record, const Op& op);

  Client& client_;
  const Profile& profile_;
  Memory* memory_ = nullptr;
  RecordSink* sink_ = nullptr;
  std::atomic<Code> sticky_{Code::success};

  // Of the tables below. May be held while the executor's lock is taken, never the other way round.
  mutable std::mutex mutex_;
  std::map<StreamId, int> streams_;  // → ordinal
  std::map<int, StreamId> default_streams_;
  std::map<int, StreamId> helpers_;
  std::map<EventId, EventState> events_;
  Channels channels_;
  StreamId next_stream_ = 13;  // as created streams are numbered in real traces
  EventId next_event_ = 1;

  // Last, so that its thread has ended before anything else goes.
  Executor executor_;
};

}  // namespace symmcts::platform

// What streams do: copies, words and host functions.
#include <utility>

#include "harness/platform/process/process_streams.hpp"

namespace symmcts::platform {
// After an error of device work nothing moves any more, as in a context that has faulted; the queue
// still runs empty, so that nobody waits for ever.
Code ProcessStreams::moved(Code code) {
  if (code != Code::success) fail(code);
  return code;
}

void ProcessStreams::wrote(std::uint64_t address, std::uint64_t bytes) {
  if (client_.machine().race_check) executor_.touches(memory_->places(address, bytes), true);
}

void ProcessStreams::read(std::uint64_t address, std::uint64_t bytes) {
  if (client_.machine().race_check) executor_.touches(memory_->places(address, bytes), false);
}

Executor::Traits ProcessStreams::traits(std::uint64_t destination, std::uint64_t source,
                                        std::uint64_t bytes) {
  Executor::Traits traits;
  if (bytes <= kLongestSignal) traits.kind = RaceOp::Kind::short_copy;
  traits.shared = memory_->shared(destination, bytes) || memory_->shared(source, bytes);
  return traits;
}

void ProcessStreams::show(CopyRecord record, const Op& op) {
  record.start = op.start;
  record.end = op.end;
  if (sink_ != nullptr) sink_->on_copy(record);
}

Code ProcessStreams::copy(StreamId stream, std::uint64_t destination, std::uint64_t source,
                          std::uint64_t bytes, Origin origin, bool async) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  if (bytes == 0) return Code::success;
  const CopyPlan plan =
      plan_copy(profile_, memory_->resolve(destination), memory_->resolve(source), bytes, ordinal);
  const CopyRecord record =
      describe(plan, profile_.rule(plan.copy_class), stream, ordinal, bytes, origin, async);
  // The driver has read pageable memory when the call returns: the caller may reuse it.
  const OpPtr op = copy_group(stream, plan, record, {{destination, source, bytes, true}});
  // Downloads to pageable memory return when they are done, whatever form of the call was used.
  if (plan.destination_kind == MemoryKind::pageable) {
    executor_.wait_for({op}, "copy to pageable memory");
    return sticky_error();
  }
  return Code::success;
}

Code ProcessStreams::write_value(StreamId stream, std::uint64_t address, std::uint64_t value,
                                 int width) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  const auto bytes = static_cast<std::uint64_t>(width);
  executor_.add([&](Timeline& timeline, Ns now) { return timeline.write_word(stream, now); },
                [=, this](const Op& done) {
                  if (sticky_error() != Code::success) return;
                  wrote(address, bytes);
                  moved(memory_->write_word(address, value, width, done.end));
                },
                {RaceOp::Kind::word_write, memory_->shared(address, bytes)});
  return Code::success;
}

Code ProcessStreams::wait_value(StreamId stream, std::uint64_t address, std::uint64_t value,
                                int width, WordTest test) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  const AddressInfo place = memory_->resolve(address);
  // A wait is a read: undefined on a multicast mapping (A13.2), so refused. Words in host memory
  // change without our seeing it: not modelled.
  if (place.kind == AddressInfo::Kind::multicast) return Code::invalid_value;
  if (place.kind == AddressInfo::Kind::reserved) return Code::invalid_value;
  if (place.kind != AddressInfo::Kind::memory) return Code::not_supported;
  WordWait wait;
  wait.allocation = place.object;
  wait.offset = place.offset;
  wait.width = static_cast<std::uint8_t>(width);
  wait.test = test;
  wait.value = value;
  executor_.add_wait([&](Timeline& timeline, Ns now) { return timeline.wait_word(stream, now); },
                     wait, memory_->shared(address, wait.width));
  return Code::success;
}

Code ProcessStreams::host_function(StreamId stream, std::function<void()> function) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  executor_.add([&](Timeline& timeline, Ns now) { return timeline.host_function(stream, now); },
                [function = std::move(function)](const Op&) { function(); },
                {RaceOp::Kind::host_function, false});
  return Code::success;
}

}  // namespace symmcts::platform

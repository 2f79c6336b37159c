// Fills, and how records show them.
#include "harness/platform/process/process_streams.hpp"

namespace symmcts::platform {

// A fill rides the compute channel, as local copies do (measured,
// fixtures/oracles/h200-x2/copy-paths.txt); that it takes their time is inferred.
FillRecord ProcessStreams::describe_fill(StreamId stream, int ordinal, std::uint64_t bytes,
                                         std::uint32_t value, const Origin& origin, bool async) {
  const CopyRule& rule = profile_.rule(CopyClass::dtod);
  FillRecord record;
  record.bytes = bytes;
  record.value = value;
  record.device = ordinal;
  record.context = static_cast<std::uint32_t>(ordinal + 1);
  record.stream = stream;
  record.correlation = origin.correlation;
  record.graph = origin.graph;
  record.node = origin.node;
  record.channel_type = static_cast<std::uint32_t>(rule.channel_type.value);
  record.async = async;
  record.channel = channel(rule, ordinal, stream);
  return record;
}

// One operation and one record, as one call of the driver's is one node of a graph.
Code ProcessStreams::fill(StreamId stream, const FillShape& shape, Origin origin, bool async) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  const std::uint64_t row = shape.count * static_cast<std::uint64_t>(shape.width);
  if (row * shape.rows == 0) return Code::success;
  const FillRecord record =
      describe_fill(stream, ordinal, row * shape.rows, shape.value, origin, async);
  const std::uint64_t reach = row + (shape.rows - 1) * shape.pitch;
  executor_.add([&](Timeline& timeline,
                    Ns now) { return timeline.copy(stream, now, CopyClass::dtod, record.bytes); },
                [=, this](const Op& done) {
                  if (sticky_error() != Code::success) return;
                  for (std::uint64_t i = 0; i < shape.rows; ++i) {
                    const std::uint64_t at = shape.destination + i * shape.pitch;
                    const Code code =
                        memory_->fill_bytes(at, shape.value, shape.width, shape.count);
                    if (moved(code) != Code::success) return;
                    wrote(at, row);
                    memory_->log_words(at, row, done.end);
                  }
                  FillRecord shown = record;
                  shown.start = done.start;
                  shown.end = done.end;
                  if (sink_ != nullptr) sink_->on_fill(shown);
                },
                traits(shape.destination, shape.destination, reach));
  return Code::success;
}

}  // namespace symmcts::platform

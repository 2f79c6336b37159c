// A copy between two devices of which neither may address the other's end: down to the host's
// memory and up again, in pieces. Measured (hardware/h200-x2/copy-records.txt, "peer, access NOT
// enabled"): one record DTOH on the source device, one HTOD on the destination device, both device
// to device, both with all bytes and the time of one piece; the download names an upload channel,
// for few bytes the compute channel (fixtures/oracles/h200-x2/copy-paths.txt).
#include <algorithm>

#include "harness/platform/process/process_streams.hpp"

namespace symmcts::platform {

StreamId ProcessStreams::helper(int ordinal) {
  std::lock_guard lock(mutex_);
  const auto found = helpers_.find(ordinal);
  if (found != helpers_.end()) return found->second;
  return helpers_[ordinal] = add_stream(ordinal, false, true);
}

// That one piece has to be up before the next one comes down is inferred: the measured copy of
// 64 MiB took between once and twice the time of both directions.
void ProcessStreams::copy_through_host(StreamId stream, int ordinal, const CopyPlan& plan,
                                       const CopySpan& span, const Origin& origin) {
  const int from = plan.source_device, to = plan.destination_device;
  const StreamId down = from == ordinal ? stream : helper(from);
  const StreamId up = to == ordinal ? stream : helper(to);
  const bool small = span.bytes < profile_.small_upload.value;
  const CopyClass upwards = small ? CopyClass::small_htod : CopyClass::htod;
  const CopyRule& rule = profile_.rule(upwards);
  CopyRecord download = describe(plan, rule, down, from, span.bytes, origin, true);
  download.kind = CopyKind::dtoh;
  CopyRecord upload = describe(plan, rule, up, to, span.bytes, origin, true);
  upload.kind = CopyKind::htod;

  const auto behind = [&](StreamId waiter, const OpPtr& op) {
    executor_.add([&](Timeline& timeline, Ns now) { return timeline.marker(waiter, now, op); });
  };
  OpPtr last =
      executor_.add([&](Timeline& timeline, Ns now) { return timeline.marker(stream, now); });
  if (down != stream) behind(down, last);
  if (up != stream) behind(up, last);
  for (std::uint64_t at = 0; at < span.bytes;) {
    const std::uint64_t piece = std::min(span.bytes - at, profile_.staging_chunk.value);
    const bool first = at == 0;
    last = executor_.add([&](Timeline& timeline,
                             Ns now) { return timeline.copy(down, now, CopyClass::dtoh, piece); },
                         [=, this](const Op& done) {
                           if (first && sticky_error() == Code::success) show(download, done);
                         },
                         {});
    behind(up, last);
    last = executor_.add(
        [&](Timeline& timeline, Ns now) { return timeline.copy(up, now, upwards, piece); },
        [=, this](const Op& done) {
          if (sticky_error() != Code::success) return;
          const std::uint64_t destination = span.destination + at;
          if (moved(memory_->copy_bytes(destination, span.source + at, piece)) != Code::success)
            return;
          read(span.source + at, piece);
          wrote(destination, piece);
          memory_->log_words(destination, piece, done.end);
          if (first) show(upload, done);
        },
        traits(span.destination + at, span.source + at, piece));
    behind(down, last);
    at += piece;
  }
  if (up != stream && down != stream) behind(stream, last);
}

}  // namespace symmcts::platform

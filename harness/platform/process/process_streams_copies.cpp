// Several copies enqueued together, and how records show a copy.
#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "harness/platform/process/process_streams.hpp"

namespace symmcts::platform {
namespace {

// Neighbours that the driver takes together: uploads, downloads and peer copies between the same
// two devices, but not local copies (measured, fixtures/oracles/h200-x2/copy-paths.txt).
bool together(const CopyPlan& a, const CopyPlan& b) {
  const auto key = [](const CopyPlan& plan) {
    return std::make_tuple(plan.copy_class, plan.kind, plan.source_kind, plan.destination_kind,
                           plan.source_device, plan.destination_device);
  };
  return a.kind != CopyKind::dtod && a.kind != CopyKind::htoh && key(a) == key(b);
}

struct Group {
  CopyPlan plan;
  std::vector<CopySpan> spans;
};

// Keeps the bytes of a source that the caller may reuse at once.
std::shared_ptr<std::byte[]> take_now(CopySpan& span) {
  auto taken = std::make_shared_for_overwrite<std::byte[]>(span.bytes);
  std::memcpy(taken.get(), reinterpret_cast<const void*>(span.source), span.bytes);
  span.source = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(taken.get()));
  return taken;
}

}  // namespace

std::uint32_t ProcessStreams::channel(const CopyRule& rule, int ordinal, StreamId stream) {
  std::lock_guard lock(mutex_);
  const auto found = default_streams_.find(ordinal);
  if (rule.channel_type.value == 1 && found != default_streams_.end() && found->second == stream) {
    return static_cast<std::uint32_t>(profile_.default_compute_channel.value);
  }
  return channels_.id(rule, ordinal, stream);
}

CopyRecord ProcessStreams::describe(const CopyPlan& plan, const CopyRule& rule, StreamId stream,
                                    int ordinal, std::uint64_t bytes, const Origin& origin,
                                    bool async) {
  CopyRecord record;
  record.kind = plan.kind;
  record.source_kind = plan.source_kind;
  record.destination_kind = plan.destination_kind;
  record.async = async;
  record.bytes = bytes;
  record.device = ordinal;
  record.source_device = plan.source_device;
  record.destination_device = plan.destination_device;
  record.context = static_cast<std::uint32_t>(ordinal + 1);
  record.stream = stream;
  record.correlation = origin.correlation;
  record.graph = origin.graph;
  record.node = origin.node;
  record.channel_type = static_cast<std::uint32_t>(rule.channel_type.value);
  record.channel = channel(rule, ordinal, stream);
  return record;
}

Code ProcessStreams::copies(StreamId stream, const std::vector<CopySpan>& spans, Origin origin) {
  int ordinal = 0;
  if (const Code code = may_enqueue(stream, ordinal); code != Code::success) return code;
  std::vector<Group> groups;
  for (const CopySpan& span : spans) {
    if (span.bytes == 0) continue;
    const CopyPlan plan =
        plan_copy(profile_, memory_->resolve(span.destination), memory_->resolve(span.source),
                  span.bytes, ordinal, origin.graph != 0);
    const bool joins = !groups.empty() && !span.through_host &&
                       !groups.back().spans.back().through_host &&
                       together(groups.back().plan, plan);
    if (!joins) groups.push_back({plan, {}});
    groups.back().spans.push_back(span);
  }
  for (Group& group : groups) {
    if (group.spans.front().through_host) {
      copy_through_host(stream, ordinal, group.plan, group.spans.front(), origin);
      continue;
    }
    std::uint64_t bytes = 0;
    for (const CopySpan& span : group.spans) bytes += span.bytes;
    const CopyRule& rule = profile_.rule(group.plan.copy_class);
    CopyRecord record = describe(group.plan, rule, stream, ordinal, bytes, origin, true);
    record.copies = group.spans.size();
    copy_group(stream, group.plan, record, std::move(group.spans));
  }
  return Code::success;
}

OpPtr ProcessStreams::copy_group(StreamId stream, const CopyPlan& plan, CopyRecord record,
                                 std::vector<CopySpan> spans) {
  std::vector<std::shared_ptr<std::byte[]>> taken;
  if (plan.source_kind == MemoryKind::pageable) {
    for (CopySpan& span : spans) {
      if (span.read_now) taken.push_back(take_now(span));
    }
  }
  Executor::Traits how;
  for (const CopySpan& span : spans) {
    const Executor::Traits one = traits(span.destination, span.source, span.bytes);
    how = {spans.size() == 1 ? one.kind : RaceOp::Kind::plain, how.shared || one.shared};
  }
  return executor_.add(
      [&](Timeline& timeline, Ns now) {
        return timeline.copy(stream, now, plan.copy_class, record.bytes);
      },
      [this, record, spans = std::move(spans), taken = std::move(taken)](const Op& done) {
        const bool pageable = record.source_kind == MemoryKind::pageable;
        if (sticky_error() != Code::success) return;
        for (const CopySpan& span : spans) {
          const Code code = memory_->copy_bytes(span.destination, span.source, span.bytes);
          if (moved(code) != Code::success) return;
          if (!pageable || !span.read_now) read(span.source, span.bytes);
          wrote(span.destination, span.bytes);
          memory_->log_words(span.destination, span.bytes, done.end);
        }
        show(record, done);
      },
      how);
}

}  // namespace symmcts::platform

#include "harness/evidence/kineto_event.hpp"

#include "harness/evidence/json_scan.hpp"

namespace symmcts::evidence {
namespace {

struct Fields {
  std::string_view phase, category, name;
  bool named = false;  // its name is a string
  JsonValue pid, tid, ts, dur, args;
};

bool scan_fields(std::string_view text, Fields& out) {
  ObjectScanner scanner(text);
  std::string_view key;
  JsonValue value;
  while (scanner.next(key, value)) {
    if (key == "ph") {
      out.phase = value.text;
    } else if (key == "cat") {
      out.category = value.text;
    } else if (key == "name") {
      out.name = value.text;
      out.named = value.kind == JsonValue::Kind::string;
    } else if (key == "pid") {
      out.pid = value;
    } else if (key == "tid") {
      out.tid = value;
    } else if (key == "ts") {
      out.ts = value;
    } else if (key == "dur") {
      out.dur = value;
    } else if (key == "args") {
      out.args = value;
    }
  }
  return !scanner.damaged();
}

// `tid` of GPU events: the stream id, or "stream 7" in files of 2020 and 2021.
std::int64_t stream_of(const JsonValue& tid) {
  constexpr std::string_view kPrefix = "stream ";
  JsonValue number = tid;
  if (number.text.substr(0, kPrefix.size()) == kPrefix) {
    number.text.remove_prefix(kPrefix.size());
  }
  return integer(number).value_or(kAbsent);
}

// The sides of "Memcpy HtoD (Pinned -> Device)". Two-word kinds exist, so no split on spaces.
MemoryKind side(std::string_view word) {
  if (word == "Pinned") {
    return MemoryKind::pinned;
  }
  if (word == "Pageable" || word == "Pagable") {  // the latter until November 2020
    return MemoryKind::pageable;
  }
  if (word == "Device" || word == "Device Static") {
    return MemoryKind::device;
  }
  return MemoryKind::unknown;
}

bool read_copy_name(std::string_view name, Copy& copy, bool& rocm) {
  constexpr std::string_view kPrefix = "Memcpy ";
  name.remove_prefix(kPrefix.size());
  const std::size_t space = name.find(' ');
  copy.kind = copy_kind(name.substr(0, space)).value_or(CopyKind::other);
  const std::size_t open = name.find('(');
  const std::size_t arrow = name.find(" -> ");
  if (open != std::string_view::npos && arrow != std::string_view::npos && name.back() == ')') {
    const std::string_view from = name.substr(open + 1, arrow - open - 1);
    const std::string_view to = name.substr(arrow + 4, name.size() - arrow - 5);
    copy.src_kind = side(from);
    copy.dst_kind = side(to);
    rocm = from == "Host" || to == "Host" || from == "?" || to == "?";
  }
  return space != std::string_view::npos;
}

void read_copy_args(const Fields& fields, Copy& copy) {
  std::int64_t in_device = kAbsent;
  copy.bytes = kAbsent;
  ObjectScanner scanner(fields.args.text);
  std::string_view key;
  JsonValue value;
  while (scanner.next(key, value)) {
    const std::optional<std::int64_t> number = integer(value);
    if (!number) {
      continue;
    }
    if (key == "bytes") {
      copy.bytes = *number;
    } else if (key == "device") {
      copy.device = static_cast<int>(*number);
    } else if (key == "inDevice") {
      in_device = *number;
    } else if (key == "fromDevice") {
      copy.src_device = static_cast<int>(*number);
    } else if (key == "toDevice") {
      copy.dst_device = static_cast<int>(*number);
    } else if (key == "context" || key == "inContext") {
      copy.context = *number;
    } else if (key == "stream") {
      copy.stream = *number;
    } else if (key == "correlation") {
      copy.corr = *number;
    } else if (key == "channel") {
      copy.channel = *number;
    } else if (key == "channel_type") {
      copy.channel_type = *number;
    } else if (key == "graph id") {
      copy.graph = *number != 0;
    }
  }
  if (copy.device < 0) {
    copy.device = static_cast<int>(in_device >= 0 ? in_device : integer(fields.pid).value_or(-1));
  }
  if (copy.stream == kAbsent) {
    copy.stream = stream_of(fields.tid);
  }
}

void read_work(const Fields& fields, KinetoEvent& event) {
  Copy place;  // the same arguments say where a kernel or a memset ran
  read_copy_args(fields, place);
  event.kind = KinetoEvent::Kind::work;
  event.work.corr = place.corr;
  event.work.device = place.device;
  event.work.stream = place.stream;
  event.work.bytes = place.bytes == kAbsent ? 0 : place.bytes;
}

}  // namespace

bool may_be_copy(std::string_view text) { return text.find("emcpy") != std::string_view::npos; }

KinetoEvent read_kineto_event(std::string_view text) {
  KinetoEvent event;
  Fields fields;
  if (!scan_fields(text, fields)) {
    event.kind = KinetoEvent::Kind::damaged;
    event.lost_copy = may_be_copy(text);
    return event;
  }
  const bool copied = fields.category == "gpu_memcpy" || fields.category == "Memcpy";
  const bool named_so = fields.named && fields.name.substr(0, 7) == "Memcpy ";
  const bool complete = fields.phase.empty() || fields.phase == "X";
  // One of these without the others is no event that a profiler writes.
  if ((copied || named_so) && !(complete && named_so && (copied || fields.category.empty()))) {
    event.kind = KinetoEvent::Kind::damaged;
    event.lost_copy = true;
    return event;
  }
  if (!complete) {
    return event;
  }
  const std::string_view category = fields.category;
  const bool is_copy = named_so;
  const bool is_kernel = category == "kernel" || category == "Kernel";
  const bool is_fill = category == "gpu_memset" || category == "Memset";
  const bool is_call =
      category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime";
  if (!is_copy && !is_kernel && !is_fill && !is_call) {
    return event;
  }
  const auto start = nanoseconds_of_us(fields.ts, &event.fraction);
  const auto duration = nanoseconds_of_us(fields.dur, &event.fraction);
  if (!start || !duration || *duration < 0 || fields.args.kind != JsonValue::Kind::nested) {
    event.kind = KinetoEvent::Kind::damaged;
    event.lost_copy = is_copy;
    return event;
  }
  if (is_copy) {
    event.kind = KinetoEvent::Kind::copy;
    if (!read_copy_name(fields.name, event.copy, event.unnamed_peer)) {
      event.kind = KinetoEvent::Kind::damaged;
      event.lost_copy = true;
      return event;
    }
    read_copy_args(fields, event.copy);
    event.copy.start = *start;
    event.copy.end = *start + *duration;
  } else if (is_call) {
    event.kind = KinetoEvent::Kind::call;
    event.call.name = std::string(fields.name);
    event.call.t0 = *start;
    event.call.t1 = *start + *duration;
    if (const auto corr = member(fields.args.text, "correlation")) {
      event.call.corr = integer(*corr).value_or(kAbsent);
    }
  } else {
    read_work(fields, event);
    event.work.kernel = is_kernel;
    event.work.start = *start;
    event.work.end = *start + *duration;
  }
  return event;
}

}  // namespace symmcts::evidence

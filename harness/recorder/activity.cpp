#include "harness/recorder/activity.hpp"

#include "harness/recorder/json.hpp"

namespace symmcts::recorder {
namespace {

// Copies of arrays count by where they begin and end.
const char* kind_name(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "DtoD";
    default:
      return nullptr;
  }
}

const char* memory_name(unsigned kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN:
      return nullptr;
    default:
      return "device";
  }
}

void add_memory_kind(JsonObject& line, const char* key, unsigned kind) {
  const char* name = memory_name(kind);
  if (name != nullptr) line.text(key, name);
}

// What the two shapes of a copy record have in common.
template <typename Record>
std::optional<std::string> copy_line(const Record& record, std::uint64_t copies) {
  const char* kind = kind_name(record.copyKind);
  if (kind == nullptr) return std::nullopt;
  JsonObject line;
  line.text("type", "copy").number("corr", record.correlationId).text("kind", kind);
  line.number("bytes", record.bytes).number("start", record.start).number("end", record.end);
  line.number("device", record.deviceId).number("context", record.contextId);
  line.number("stream", record.streamId).number("channel", record.channelID);
  line.integer("channel_type", record.channelType);
  add_memory_kind(line, "src_kind", record.srcKind);
  add_memory_kind(line, "dst_kind", record.dstKind);
  if constexpr (requires { record.srcDeviceId; }) {
    line.number("src_device", record.srcDeviceId).number("dst_device", record.dstDeviceId);
  }
  line.number("copies", copies);
  return line.take();
}

}  // namespace

bool is_copy(const CUpti_Activity& record) {
  return record.kind == CUPTI_ACTIVITY_KIND_MEMCPY || record.kind == CUPTI_ACTIVITY_KIND_MEMCPY2;
}

std::optional<std::string> activity_line(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
    return copy_line(copy, copy.copyCount != 0 ? copy.copyCount : 1);
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    return copy_line(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record), 1);
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
    JsonObject line;
    line.text("type", "fill").number("corr", fill.correlationId).number("bytes", fill.bytes);
    line.number("start", fill.start).number("end", fill.end).number("device", fill.deviceId);
    line.number("stream", fill.streamId).number("channel", fill.channelID);
    line.integer("channel_type", fill.channelType);
    return line.take();
  }
  return std::nullopt;
}

}  // namespace symmcts::recorder

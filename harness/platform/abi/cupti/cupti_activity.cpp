#include "harness/platform/abi/cupti/cupti_activity.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <utility>

namespace symmcts::platform::cupti {
namespace {

// The layouts that readers rely on (cupti_activity.h, CUPTI 13.0).
static_assert(sizeof(CUpti_ActivityMemcpy6) == 96);
static_assert(sizeof(CUpti_ActivityMemcpyPtoP4) == 96);
static_assert(offsetof(CUpti_ActivityMemcpy6, channelID) == 76);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, channelID) == 84);
static_assert(static_cast<int>(CopyKind::htod) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
static_assert(static_cast<int>(CopyKind::dtoh) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(static_cast<int>(CopyKind::dtod) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
static_assert(static_cast<int>(CopyKind::htoh) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
static_assert(static_cast<int>(CopyKind::ptop) == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
static_assert(static_cast<int>(MemoryKind::pageable) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
static_assert(static_cast<int>(MemoryKind::pinned) == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
static_assert(static_cast<int>(MemoryKind::device) == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);

// What both copy records share.
template <typename Record>
Record copy_record(const CopyRecord& from) {
  Record out{};
  out.copyKind = static_cast<std::uint8_t>(from.kind);
  out.srcKind = static_cast<std::uint8_t>(from.source_kind);
  out.dstKind = static_cast<std::uint8_t>(from.destination_kind);
  out.flags = from.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  out.bytes = from.bytes;
  out.start = from.start;
  out.end = from.end;
  out.deviceId = static_cast<std::uint32_t>(from.device);
  out.contextId = from.context;
  out.streamId = from.stream;
  out.correlationId = from.correlation;
  out.graphId = from.graph;
  out.graphNodeId = from.node;
  out.channelID = from.channel;
  out.channelType = static_cast<CUpti_ChannelType>(from.channel_type);
  return out;
}

}  // namespace

Activity& activity() {
  static Activity* const one = new Activity;  // outlives exit handlers
  return *one;
}

// Kinds of things that cannot happen here (runtime calls, kernels) are accepted: no record of them
// is missing. Others are not modelled.
CUptiResult Activity::set_kind(CUpti_ActivityKind kind, bool enable) {
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_DRIVER:
      for (auto& wanted : driver_api_) wanted = enable;
      [[fallthrough]];
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
    case CUPTI_ACTIVITY_KIND_MEMSET:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      kinds_[kind] = enable;
      return CUPTI_SUCCESS;
    default:
      break;
  }
  if (enable) say("activity kind %d is not modelled", static_cast<int>(kind));
  return CUPTI_ERROR_INVALID_KIND;
}

CUptiResult Activity::set_driver_api(CUpti_CallbackId cbid, bool enable) {
  if (cbid == 0 || cbid >= kDriverCallbacks) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  driver_api_[cbid] = enable;
  return CUPTI_SUCCESS;
}

CUptiResult Activity::set_buffers(CUpti_BuffersCallbackRequestFunc request,
                                  CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
  return CUPTI_SUCCESS;
}

void Activity::add_api(const abi::ApiEvent& event, Ns end) {
  if (!driver_api_[event.cbid]) return;
  CUpti_ActivityAPI out{};
  out.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  out.cbid = event.cbid;
  out.start = *event.start;
  out.end = end;
  out.processId = static_cast<std::uint32_t>(getpid());
  out.threadId = thread_ids_ == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                     ? static_cast<std::uint32_t>(syscall(SYS_gettid))
                     : static_cast<std::uint32_t>(pthread_self());
  out.correlationId = event.correlation;
  out.returnValue = static_cast<std::uint32_t>(*event.result);
  add(out);
}

// Measured on CUDA 13.0 (hardware/h200-x2/copy-records.txt, pytorch#188211): a peer copy arrives as
// a MEMCPY2 record when MEMCPY is enabled, with or without MEMCPY2; MEMCPY2 alone yields nothing.
void Activity::add_copy(const CopyRecord& record) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMCPY)) return;
  if (record.kind != CopyKind::ptop) {
    auto out = copy_record<CUpti_ActivityMemcpy6>(record);
    out.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    out.copyCount = record.copies;
    add(out);
    return;
  }
  auto out = copy_record<CUpti_ActivityMemcpyPtoP4>(record);
  out.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  out.srcDeviceId = static_cast<std::uint32_t>(record.source_device);
  out.dstDeviceId = static_cast<std::uint32_t>(record.destination_device);
  out.srcContextId = out.dstContextId = record.context;
  add(out);
}

void Activity::add_fill(const FillRecord& record) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMSET)) return;
  CUpti_ActivityMemset4 out{};
  out.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  out.value = record.value;
  out.bytes = record.bytes;
  out.start = record.start;
  out.end = record.end;
  out.deviceId = static_cast<std::uint32_t>(record.device);
  out.contextId = record.context;
  out.streamId = record.stream;
  out.correlationId = record.correlation;
  out.graphId = record.graph;
  out.graphNodeId = record.node;
  out.flags = record.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  out.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  out.channelID = record.channel;
  out.channelType = static_cast<CUpti_ChannelType>(record.channel_type);
  add(out);
}

void Activity::append(const void* record, std::size_t size) {
  Buffer full;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard lock(mutex_);
    complete = complete_;
    const bool no_room = buffer_.used + size > buffer_.size ||
                         (buffer_.most_records != 0 && buffer_.records == buffer_.most_records);
    if (buffer_.bytes != nullptr && no_room) full = std::exchange(buffer_, Buffer{});
    if (buffer_.bytes == nullptr && request_ != nullptr) {
      request_(&buffer_.bytes, &buffer_.size, &buffer_.most_records);
    }
    if (buffer_.bytes == nullptr || buffer_.size < size) {
      ++dropped_;
    } else {
      std::memcpy(buffer_.bytes + buffer_.used, record, size);
      buffer_.used += size;
      ++buffer_.records;
    }
  }
  if (full.bytes != nullptr) complete(nullptr, 0, full.bytes, full.size, full.used);
}

void Activity::flush(bool forced) {
  Buffer done;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  {
    const std::lock_guard lock(mutex_);
    complete = complete_;
    if (buffer_.bytes != nullptr && (buffer_.used > 0 || forced)) {
      done = std::exchange(buffer_, Buffer{});
    }
  }
  if (done.bytes != nullptr) complete(nullptr, 0, done.bytes, done.size, done.used);
}

void Activity::disable_all() {
  for (auto& kind : kinds_) kind = false;
  for (auto& cbid : driver_api_) cbid = false;
}

}  // namespace symmcts::platform::cupti

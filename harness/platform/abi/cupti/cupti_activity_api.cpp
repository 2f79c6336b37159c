// The activity calls.
#include "harness/platform/abi/cupti/cupti_activity.hpp"

using namespace symmcts::platform::cupti;

namespace {

std::size_t record_size(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    default:
      return 0;
  }
}

// Sizes of buffers and pools: kept and given back. They tune the real library's memory and change
// no record. The defaults are those of cupti_activity.h.
std::atomic<std::size_t> device_buffer_size{3'200'000};
std::atomic<std::size_t> device_buffer_pool_limit{250};
std::atomic<std::size_t> semaphore_pool_size{25'000};
std::atomic<std::size_t> semaphore_pool_limit{250};

std::atomic<std::size_t>* tuning(CUpti_ActivityAttribute attribute) {
  switch (attribute) {
    case CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE:
      return &device_buffer_size;
    case CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT:
      return &device_buffer_pool_limit;
    case CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE:
      return &semaphore_pool_size;
    case CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT:
      return &semaphore_pool_limit;
    default:
      return nullptr;
  }
}

// The switch for a known attribute with a buffer of the right size, else the error in `result`.
std::atomic<std::size_t>* find_tuning(CUpti_ActivityAttribute attribute, const size_t* size,
                                      const void* value, CUptiResult& result) {
  static std::atomic<bool> told{false};
  result = CUPTI_ERROR_INVALID_PARAMETER;
  if (size == nullptr || value == nullptr) return nullptr;
  auto* found = tuning(attribute);
  if (found == nullptr) {
    result = refuse("an activity attribute other than the sizes of buffers and pools", told);
  } else if (*size < sizeof(std::size_t)) {
    result = CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    found = nullptr;
  }
  return found;
}

}  // namespace

SYMMCTS_CUPTI cuptiActivityEnable(CUpti_ActivityKind kind) {
  return activity().set_kind(kind, true);
}

SYMMCTS_CUPTI cuptiActivityDisable(CUpti_ActivityKind kind) {
  return activity().set_kind(kind, false);
}

SYMMCTS_CUPTI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  return activity().set_driver_api(cbid, enable != 0);
}

// There is no runtime on the platform, so no record of it can be missing.
SYMMCTS_CUPTI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t) {
  return cbid > 0 && cbid < kRuntimeCallbacks ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

SYMMCTS_CUPTI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                             CUpti_BuffersCallbackCompleteFunc complete) {
  return activity().set_buffers(request, complete);
}

SYMMCTS_CUPTI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    const std::size_t size = record_size((*record)->kind);
    if (size == 0) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<std::uint8_t*>(*record) + size;
  }
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return record_size((*record)->kind) == 0 ? CUPTI_ERROR_INVALID_KIND : CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiActivityFlushAll(uint32_t flag) {
  activity().flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiActivityFlush(CUcontext, uint32_t, uint32_t flag) {
  return cuptiActivityFlushAll(flag);
}

SYMMCTS_CUPTI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = activity().take_dropped();
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                        void* value) {
  CUptiResult result = CUPTI_SUCCESS;
  auto* found = find_tuning(attribute, size, value, result);
  if (found == nullptr) return result;
  *static_cast<std::size_t*>(value) = *found;
  *size = sizeof(std::size_t);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size,
                                        void* value) {
  CUptiResult result = CUPTI_SUCCESS;
  auto* found = find_tuning(attribute, size, value, result);
  if (found == nullptr) return result;
  *found = *static_cast<const std::size_t*>(value);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
      type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) {
    return CUPTI_ERROR_NOT_SUPPORTED;
  }
  activity().set_thread_ids(type);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = activity().thread_ids();
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiFinalize(void) {
  activity().flush(true);
  activity().disable_all();
  return end_subscription();
}

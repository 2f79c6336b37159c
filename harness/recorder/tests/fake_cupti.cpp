// A libcupti.so.13 that calls back when the fake driver says so, and hands out one copy record at
// each flush. FAKE_CUPTI_HELD: somebody else has subscribed. FAKE_CUPTI_VERSION: what it says it
// is.
#include "harness/recorder/tests/fake_cupti.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

CUpti_CallbackFunc subscriber = nullptr;
void* subscriber_data = nullptr;
std::set<CUpti_CallbackId>& enabled() {
  static auto* ids = new std::set<CUpti_CallbackId>;
  return *ids;
}
CUpti_BuffersCallbackRequestFunc request_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc complete_buffer = nullptr;
std::uint64_t clock_now = 1000;

}  // namespace

FAKE_EXPORT CUptiResult cuptiGetVersion(std::uint32_t* version) {
  const char* text = std::getenv("FAKE_CUPTI_VERSION");
  *version = text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                       void* data) {
  if (std::getenv("FAKE_CUPTI_HELD") != nullptr) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  *handle = nullptr;
  subscriber = callback;
  subscriber_data = data;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                                          CUpti_CallbackFunc callback, void* data,
                                          CUpti_SubscriberParams* params) {
  const CUptiResult result = cuptiSubscribe(handle, callback, data);
  if (result != CUPTI_SUCCESS) std::strcpy(params->oldSubscriberName, "CUPTI for Other");
  return result;
}

FAKE_EXPORT CUptiResult cuptiEnableCallback(std::uint32_t on, CUpti_SubscriberHandle,
                                            CUpti_CallbackDomain, CUpti_CallbackId id) {
  if (on != 0) {
    enabled().insert(id);
  } else {
    enabled().erase(id);
  }
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t id,
                                             const char** name) {
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate:
      *name = "cuMulticastCreate";
      return CUPTI_SUCCESS;
    case CUPTI_DRIVER_TRACE_CBID_cuMemCreate:
      *name = "cuMemCreate";
      return CUPTI_SUCCESS;
    case CUPTI_DRIVER_TRACE_CBID_cuMemRelease:
      *name = "cuMemRelease";
      return CUPTI_SUCCESS;
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

FAKE_EXPORT CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = clock_now += 10;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }

FAKE_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                       CUpti_BuffersCallbackCompleteFunc complete) {
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes,
                                                   CUpti_Activity** record) {
  if (bytes < sizeof(CUpti_ActivityMemcpy6) || *record != nullptr) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity*>(buffer);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  if (request_buffer == nullptr) return CUPTI_SUCCESS;
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, records = 0;
  request_buffer(&buffer, &bytes, &records);
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = 64;
  std::memcpy(buffer, &copy, sizeof(copy));
  complete_buffer(nullptr, 0, buffer, bytes, sizeof(copy));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT void fake_cupti_call(CUpti_ApiCallbackSite site, CUpti_CallbackId id, const char* name,
                                 const void* params, CUresult* result) {
  static std::uint32_t correlation = 0;
  if (subscriber == nullptr || enabled().count(id) == 0) return;
  if (site == CUPTI_API_ENTER) ++correlation;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = name;
  data.functionParams = params;
  data.functionReturnValue = result;
  data.correlationId = correlation;
  subscriber(subscriber_data, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

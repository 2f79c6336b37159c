// The part of Recorder that tells CUPTI what to report.
#include <cstdlib>
#include <vector>

#include "harness/recorder/recorder.hpp"

namespace symmcts::recorder {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferAlignment = 8;  // cupti_activity.h:ACTIVITY_RECORD_ALIGNMENT
// Ids grow with each toolkit; names are looked up some way beyond those of our headers.
constexpr std::uint32_t kLastId = CUPTI_DRIVER_TRACE_CBID_SIZE + 512;

void CUPTIAPI call_happened(void* recorder, CUpti_CallbackDomain domain, CUpti_CallbackId,
                            const void* data) {
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  static_cast<Recorder*>(recorder)->on_call(*static_cast<const CUpti_CallbackData*>(data));
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *records = 0;  // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t, std::size_t valid) {
  if (Recorder* recorder = running_recorder(); recorder != nullptr && valid > 0) {
    recorder->on_records(context, stream, buffer, valid);
  }
  std::free(buffer);
}

}  // namespace

// Also puts the guard in place: the one callback that is on in every process.
Status Recorder::subscribe() {
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUptiResult result = CUPTI_SUCCESS;
  if (cupti_.subscribe_v2 != nullptr) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "symm-cts recorder";
    params.oldSubscriberName = holder;
    params.oldSubscriberSize = sizeof(holder);
    result = cupti_.subscribe_v2(&subscriber_, call_happened, this, &params);
  } else {
    result = cupti_.subscribe(&subscriber_, call_happened, this);
  }
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return Error{std::string("another tool has subscribed to CUPTI: ") +
                 (holder[0] != '\0' ? holder : "it gives no name")};
  }
  if (result != CUPTI_SUCCESS) {
    return Error{std::string("cuptiSubscribe: ") + cupti_.describe(result)};
  }
  result = cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                                  CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate);
  if (result != CUPTI_SUCCESS) {
    return Error{std::string("cuptiEnableCallback(cuMulticastCreate): ") + cupti_.describe(result)};
  }
  for (std::uint32_t id = CUPTI_DRIVER_TRACE_CBID_SIZE;
       cupti_.get_callback_name != nullptr && id < kLastId; ++id) {
    const char* name = nullptr;
    if (cupti_.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) continue;
    if (name != nullptr && Guard::concerns(name)) {
      cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
    }
  }
  return {};
}

// Only the calls that evidence holds, so that a program's other calls cost nothing. A CUPTI that
// cannot name its callbacks is asked for all.
void Recorder::enable_calls() {
  if (cupti_.get_callback_name == nullptr) {
    if (cupti_.enable_domain != nullptr) {
      cupti_.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API);
    }
    return;
  }
  for (std::uint32_t id = 1; id < kLastId; ++id) {
    const char* name = nullptr;
    if (cupti_.get_callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS) continue;
    if (name == nullptr || find_rule(name) == nullptr) continue;
    cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
}

// MEMCPY2 beside MEMCPY, to learn both devices of a peer copy.
Status Recorder::enable_activity() {
  if (Status version = check_cupti_version(cupti_, cupti_version_); !version) return version;
  CUptiResult result = cupti_.activity_register_callbacks(buffer_requested, buffer_completed);
  if (result != CUPTI_SUCCESS) {
    return Error{std::string("cuptiActivityRegisterCallbacks: ") + cupti_.describe(result)};
  }
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}) {
    result = cupti_.activity_enable(kind);
    if (result != CUPTI_SUCCESS) {
      return Error{"cuptiActivityEnable(" + std::to_string(kind) + "): " + cupti_.describe(result)};
    }
  }
  return {};
}

}  // namespace symmcts::recorder

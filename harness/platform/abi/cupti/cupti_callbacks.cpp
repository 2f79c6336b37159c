// Subscribing and the callbacks of driver calls. One subscriber a process, as CUPTI 13.0 has it.
#include <cstdio>
#include <cstring>

#include "harness/platform/abi/cupti/cupti_activity.hpp"

namespace symmcts::platform::cupti {
namespace {

CUpti_SubscriberHandle handle() {
  return reinterpret_cast<CUpti_SubscriberHandle>(&subscriber().active);
}

bool is_subscriber(CUpti_SubscriberHandle given) {
  return given == handle() && subscriber().active.load();
}

// Sets the switch of one callback. The resource, synchronize, NVTX and state domains are not
// modelled: refused, rather than accepted and never raised.
CUptiResult set_callback(bool enable, CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  static std::atomic<bool> told{false};
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      if (cbid == 0 || cbid >= kDriverCallbacks) return CUPTI_ERROR_INVALID_PARAMETER;
      subscriber().driver_enabled[cbid] = enable;
      return CUPTI_SUCCESS;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      if (cbid == 0 || cbid >= kRuntimeCallbacks) return CUPTI_ERROR_INVALID_PARAMETER;
      subscriber().runtime_enabled[cbid] = enable;
      return CUPTI_SUCCESS;
    case CUPTI_CB_DOMAIN_RESOURCE:
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
    case CUPTI_CB_DOMAIN_NVTX:
    case CUPTI_CB_DOMAIN_STATE:
      if (!enable) return CUPTI_SUCCESS;
      return refuse("a callback domain other than driver and runtime API", told);
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

void set_domain(bool enable, CUpti_CallbackDomain domain) {
  const unsigned count =
      domain == CUPTI_CB_DOMAIN_DRIVER_API ? kDriverCallbacks : kRuntimeCallbacks;
  for (unsigned cbid = 1; cbid < count; ++cbid) set_callback(enable, domain, cbid);
}

void raise(const abi::ApiEvent& event) {
  const Subscriber& who = subscriber();
  if (!who.active || !who.driver_enabled[event.cbid]) return;
  CUpti_CallbackData data{};
  data.callbackSite = event.exit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
  data.functionName = event.function;
  data.functionParams = event.params;
  data.functionReturnValue = event.exit ? event.result : nullptr;
  data.context = event.context;
  data.contextUid = event.context_id;
  data.correlationData = event.scratch;
  data.correlationId = event.correlation;
  who.callback.load()(who.userdata.load(), CUPTI_CB_DOMAIN_DRIVER_API, event.cbid, &data);
}

void on_api(abi::ApiEvent& event) {
  if (event.cbid >= kDriverCallbacks) return;
  if (!event.exit) *event.start = driver()->now();
  raise(event);
  if (event.exit) activity().add_api(event, driver()->now());
}

void on_copy(const CopyRecord& record) { activity().add_copy(record); }
void on_fill(const FillRecord& record) { activity().add_fill(record); }

CUptiResult subscribe(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback, void* userdata,
                      const char* name, char* holder) {
  if (out == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  Subscriber& who = subscriber();
  const std::lock_guard lock(who.mutex);
  if (who.active) {
    if (holder != nullptr) {
      std::snprintf(holder, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN, "CUPTI for %s", who.name);
    }
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  std::snprintf(who.name, sizeof who.name, "%s", name == nullptr ? "" : name);
  who.callback = callback;
  who.userdata = userdata;
  who.active = true;
  *out = handle();
  return CUPTI_SUCCESS;
}

}  // namespace

const abi::CuptiHooks kHooks{on_api, on_copy, on_fill};

Subscriber& subscriber() {
  static Subscriber* const one = new Subscriber;  // outlives exit handlers
  return *one;
}

CUptiResult end_subscription() {
  Subscriber& who = subscriber();
  const std::lock_guard lock(who.mutex);
  who.active = false;
  set_domain(false, CUPTI_CB_DOMAIN_DRIVER_API);
  set_domain(false, CUPTI_CB_DOMAIN_RUNTIME_API);
  return CUPTI_SUCCESS;
}

}  // namespace symmcts::platform::cupti

using namespace symmcts::platform::cupti;

SYMMCTS_CUPTI cuptiSubscribe(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback,
                             void* userdata) {
  return subscribe(out, callback, userdata, nullptr, nullptr);
}

SYMMCTS_CUPTI cuptiSubscribe_v2(CUpti_SubscriberHandle* out, CUpti_CallbackFunc callback,
                                void* userdata, CUpti_SubscriberParams* params) {
  return subscribe(out, callback, userdata, params == nullptr ? nullptr : params->subscriberName,
                   params == nullptr ? nullptr : params->oldSubscriberName);
}

SYMMCTS_CUPTI cuptiUnsubscribe(CUpti_SubscriberHandle given) {
  return is_subscriber(given) ? end_subscription() : CUPTI_ERROR_INVALID_PARAMETER;
}

SYMMCTS_CUPTI cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle given,
                                    CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  if (enable == nullptr || !is_subscriber(given)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid > 0 && cbid < kDriverCallbacks) {
    *enable = subscriber().driver_enabled[cbid] ? 1 : 0;
  } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid > 0 && cbid < kRuntimeCallbacks) {
    *enable = subscriber().runtime_enabled[cbid] ? 1 : 0;
  } else {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle given,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
  if (!is_subscriber(given)) return CUPTI_ERROR_INVALID_PARAMETER;
  return set_callback(enable != 0, domain, cbid);
}

SYMMCTS_CUPTI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle given,
                                CUpti_CallbackDomain domain) {
  if (!is_subscriber(given)) return CUPTI_ERROR_INVALID_PARAMETER;
  const CUptiResult result = set_callback(enable != 0, domain, 1);
  if (result == CUPTI_SUCCESS &&
      (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API)) {
    set_domain(enable != 0, domain);
  }
  return result;
}

// All domains that are modelled; one line tells of the others.
SYMMCTS_CUPTI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle given) {
  if (!is_subscriber(given)) return CUPTI_ERROR_INVALID_PARAMETER;
  set_domain(enable != 0, CUPTI_CB_DOMAIN_DRIVER_API);
  set_domain(enable != 0, CUPTI_CB_DOMAIN_RUNTIME_API);
  set_callback(enable != 0, CUPTI_CB_DOMAIN_RESOURCE, 1);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiSupportedDomains(size_t* count, CUpti_DomainTable* table) {
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API};
  if (count == nullptr || table == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *count = 2;
  *table = domains;
  return CUPTI_SUCCESS;
}

#pragma once

#include <cupti.h>

#include <cstdint>

#include "harness/permit/driver_kind.hpp"
#include "harness/support/result.hpp"

namespace symmcts::recorder {

// The CUPTI functions that the recorder uses, found at run time: the recorder is linked against
// none, so that it can be loaded wherever the driver is.
struct CuptiApi {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiSubscribe_v2) subscribe_v2 = nullptr;  // optional: names the holder
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;         // optional
  decltype(&cuptiGetCallbackName) get_callback_name = nullptr;  // optional
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&cuptiActivityGetNextRecord) activity_get_next_record = nullptr;
  decltype(&cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) activity_get_dropped = nullptr;

  // "name of the error", for messages.
  const char* describe(CUptiResult result) const;
};

// Finds CUPTI: beside the driver where that is the software platform, whose CUPTI no other one can
// replace; else the one already in the process, else libcupti.so.13 on the linker's path. Fails
// where there is none or a function is missing.
Result<CuptiApi> load_cupti(const LoadedDriver& driver);

// Fails where the version is not 13, whose records we read. Call after subscribing: the headers
// ask every client to subscribe before anything else.
Status check_cupti_version(const CuptiApi& api, std::uint32_t& version);

}  // namespace symmcts::recorder

#pragma once

#include <cuda.h>
#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "harness/platform/abi/cupti_link.hpp"

#define SYMMCTS_CUPTI extern "C" __attribute__((visibility("default"))) CUptiResult

namespace symmcts::platform::cupti {

struct CuptiName {
  unsigned number;
  const char* name;
};
extern const CuptiName kDriverNames[], kRuntimeNames[], kResultNames[];  // ascending
extern const std::size_t kDriverNamesSize, kRuntimeNamesSize, kResultNamesSize;

// Says once that a function is not modelled; answers NOT_SUPPORTED.
CUptiResult refuse(const char* name, std::atomic<bool>& told);
// One line on stderr.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The way to our libcuda.so.1, attached at the first use. Null, with one line, where the process's
// driver is not the software platform of this build.
const abi::DriverLink* driver();

inline constexpr unsigned kDriverCallbacks = CUPTI_DRIVER_TRACE_CBID_SIZE;
inline constexpr unsigned kRuntimeCallbacks = CUPTI_RUNTIME_TRACE_CBID_SIZE;

// The one subscriber. Its handle is the address of `active`.
struct Subscriber {
  std::mutex mutex;  // guards subscribing; the callback path reads the atomics
  std::atomic<bool> active{false};
  std::atomic<CUpti_CallbackFunc> callback{nullptr};
  std::atomic<void*> userdata{nullptr};
  char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN + 1] = {};
  std::atomic<bool> driver_enabled[kDriverCallbacks] = {};
  std::atomic<bool> runtime_enabled[kRuntimeCallbacks] = {};  // no runtime here: never raised
};
Subscriber& subscriber();

// What libcuda calls: driver calls and finished device work.
extern const abi::CuptiHooks kHooks;

}  // namespace symmcts::platform::cupti

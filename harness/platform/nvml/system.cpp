// Life of the library, and what concerns the whole host. Result codes of misuse are those measured
// on two H200 (fixtures/oracles/h200-x2/nvml.txt).
#include "harness/platform/nvml/call.hpp"

using namespace symmcts::platform::nvml;

SYMMCTS_NVML nvmlInit() { return begin(); }
SYMMCTS_NVML nvmlInit_v2() { return begin(); }

// 1: no GPUs is no error; 2: attach none. Both without effect where GPUs are always there.
SYMMCTS_NVML nvmlInitWithFlags(unsigned flags) {
  return flags <= 3 ? begin() : Return::invalid_argument;
}

SYMMCTS_NVML nvmlShutdown() { return end(); }

extern "C" __attribute__((visibility("default"))) const char* nvmlErrorString(int code) {
  switch (static_cast<Return>(code)) {
    case Return::success:
      return "success";
    case Return::uninitialized:
      return "nvmlInit was not called";
    case Return::invalid_argument:
      return "invalid argument";
    case Return::not_supported:
      return "not supported";
    case Return::not_found:
      return "not found";
    case Return::insufficient_size:
      return "insufficient size";
    case Return::driver_not_loaded:
      return "driver not loaded";
    case Return::function_not_found:
      return "function not found";
    case Return::argument_version_mismatch:
      return "version of the argument not known";
    case Return::unknown:
      break;
  }
  return "unknown error";
}

SYMMCTS_NVML nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const auto here = world();
  if (!here) return Return::uninitialized;
  return give_text(here->profile().management.driver.value, version, length);
}

SYMMCTS_NVML nvmlSystemGetCudaDriverVersion(int* version) {
  if (version == nullptr) return Return::invalid_argument;
  const auto here = world();
  if (!here) return Return::uninitialized;
  *version = here->profile().driver_version.value;
  return Return::success;
}

SYMMCTS_NVML nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

// Off: all zero, as measured. On: production, enabled (nvml.h:NVML_CC_SYSTEM_...).
SYMMCTS_NVML nvmlSystemGetConfComputeState(ConfidentialState* state) {
  if (state == nullptr) return Return::invalid_argument;
  const auto here = world();
  if (!here) return Return::uninitialized;
  *state = {};
  if (here->faults().confidential_computing) {
    state->environment = 2;
    state->feature = 1;
  }
  return Return::success;
}

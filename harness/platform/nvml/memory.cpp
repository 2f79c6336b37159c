// Memory in use, and by whom. Whoever asks is told of all clients of the machine.
#include "harness/platform/nvml/call.hpp"

using namespace symmcts::platform::nvml;

namespace {

// Total of what CUDA can use and of what the driver keeps, as measured: NVML's total is that sum.
Return memory_of(const World& here, int index, MemoryInfoV2& out) {
  const auto used = here.memory_used(index);
  if (!used) {
    say("nvmlDeviceGetMemoryInfo: " + used.error());
    return Return::unknown;
  }
  const auto usable = here.profile().gpu_memory.value;
  out.reserved = here.profile().management.memory_reserved.value;
  out.total = usable + out.reserved;
  out.used = used.value();
  out.free = usable < out.used ? 0 : usable - out.used;
  return Return::success;
}

// Processes of a virtual machine have no number that means anything to the host, so the list is
// empty.
Return no_processes(Device device, unsigned* count) {
  return on_device(device, [&](const World&, int) {
    if (count == nullptr) return Return::invalid_argument;
    *count = 0;
    return Return::success;
  });
}

}  // namespace

// The first version counts what the driver keeps as used.
SYMMCTS_NVML nvmlDeviceGetMemoryInfo(Device device, MemoryInfo* out) {
  return on_device(device, [&](const World& here, int index) {
    if (out == nullptr) return Return::invalid_argument;
    MemoryInfoV2 now{};
    if (const Return code = memory_of(here, index, now); code != Return::success) return code;
    *out = {now.total, now.free, now.total - now.free};
    return Return::success;
  });
}

SYMMCTS_NVML nvmlDeviceGetMemoryInfo_v2(Device device, MemoryInfoV2* out) {
  return on_device(device, [&](const World& here, int index) {
    if (out == nullptr) return Return::invalid_argument;
    if (out->version != version_of<MemoryInfoV2>(2)) return Return::function_not_found;
    return memory_of(here, index, *out);
  });
}

SYMMCTS_NVML nvmlDeviceGetComputeRunningProcesses(Device device, unsigned* count, void*) {
  return no_processes(device, count);
}
SYMMCTS_NVML nvmlDeviceGetComputeRunningProcesses_v2(Device device, unsigned* count, void*) {
  return no_processes(device, count);
}
SYMMCTS_NVML nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void*) {
  return no_processes(device, count);
}

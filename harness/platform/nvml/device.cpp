// Devices: how they are found, and what they are. All GPUs of the host, in their order, whatever
// CUDA_VISIBLE_DEVICES says.
#include <cstdio>

#include "harness/platform/abi/visible_devices.hpp"
#include "harness/platform/nvml/call.hpp"

using namespace symmcts::platform::nvml;
using symmcts::platform::abi::device_uuid;
using symmcts::platform::abi::pci_bus;
using symmcts::platform::abi::uuid_text;

namespace {

PciInfo pci_info(const World& here, int index) {
  PciInfo info{};
  info.bus = static_cast<unsigned>(pci_bus(index));
  std::snprintf(info.bus_id_legacy, sizeof info.bus_id_legacy, "0000:%02X:00.0", info.bus & 0xffU);
  std::snprintf(info.bus_id, sizeof info.bus_id, "00000000:%02X:00.0", info.bus & 0xffU);
  const auto& management = here.profile().management;
  // Zero where the profile does not know it.
  if (management.pci_device_id) {
    info.device_id = static_cast<unsigned>(management.pci_device_id->value);
  }
  if (management.pci_subsystem_id) {
    info.subsystem_id = static_cast<unsigned>(management.pci_subsystem_id->value);
  }
  return info;
}

// Calls of older versions of the function write only the fields that they had.
Return give_pci_info(Device device, PciInfo* out, std::size_t bytes) {
  return on_device(device, [&](const World& here, int index) {
    if (out == nullptr) return Return::invalid_argument;
    const PciInfo info = pci_info(here, index);
    std::memcpy(static_cast<void*>(out), &info, bytes);
    return Return::success;
  });
}

}  // namespace

SYMMCTS_NVML nvmlDeviceGetCount_v2(unsigned* count) {
  if (count == nullptr) return Return::invalid_argument;
  const auto here = world();
  if (!here) return Return::uninitialized;
  *count = static_cast<unsigned>(here->gpus());
  return Return::success;
}

SYMMCTS_NVML nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

SYMMCTS_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  const auto here = world();
  if (!here) return Return::uninitialized;
  if (device == nullptr || index >= static_cast<unsigned>(here->gpus())) {
    return Return::invalid_argument;
  }
  *device = World::handle(static_cast<int>(index));
  return Return::success;
}

SYMMCTS_NVML nvmlDeviceGetHandleByIndex(unsigned index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

SYMMCTS_NVML nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  const auto here = world();
  if (!here) return Return::uninitialized;
  if (uuid == nullptr || device == nullptr) return Return::invalid_argument;
  for (int index = 0; index < here->gpus(); ++index) {
    if (uuid_text(device_uuid(here->gpu(index))) != uuid) continue;
    *device = World::handle(index);
    return Return::success;
  }
  return Return::not_found;
}

SYMMCTS_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* text, Device* device) {
  const auto here = world();
  if (!here) return Return::uninitialized;
  if (text == nullptr || device == nullptr) return Return::invalid_argument;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = function = 0;
    if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return Return::invalid_argument;
  }
  for (int index = 0; index < here->gpus(); ++index) {
    if (domain != 0 || slot != 0 || function != 0 || static_cast<int>(bus) != pci_bus(index)) {
      continue;
    }
    *device = World::handle(index);
    return Return::success;
  }
  return Return::not_found;
}

SYMMCTS_NVML nvmlDeviceGetHandleByPciBusId(const char* text, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}

SYMMCTS_NVML nvmlDeviceGetIndex(Device device, unsigned* out) {
  return on_device(device, [&](const World&, int index) {
    if (out == nullptr) return Return::invalid_argument;
    *out = static_cast<unsigned>(index);
    return Return::success;
  });
}

// The number of /dev/nvidiaN.
SYMMCTS_NVML nvmlDeviceGetMinorNumber(Device device, unsigned* out) {
  return nvmlDeviceGetIndex(device, out);
}

SYMMCTS_NVML nvmlDeviceGetName(Device device, char* out, unsigned length) {
  return on_device(device, [&](const World& here, int) {
    return give_text(here.profile().gpu_name.value, out, length);
  });
}

SYMMCTS_NVML nvmlDeviceGetUUID(Device device, char* out, unsigned length) {
  return on_device(device, [&](const World& here, int index) {
    return give_text(uuid_text(device_uuid(here.gpu(index))), out, length);
  });
}

SYMMCTS_NVML nvmlDeviceGetPciInfo(Device device, PciInfo* out) {
  return give_pci_info(device, out, offsetof(PciInfo, subsystem_id));
}
SYMMCTS_NVML nvmlDeviceGetPciInfo_v2(Device device, PciInfo* out) {
  return give_pci_info(device, out, offsetof(PciInfo, bus_id));
}
SYMMCTS_NVML nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
  return give_pci_info(device, out, sizeof(PciInfo));
}

SYMMCTS_NVML nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return on_device(device, [&](const World& here, int) {
    if (major == nullptr || minor == nullptr) return Return::invalid_argument;
    *major = here.profile().compute_major.value;
    *minor = here.profile().compute_minor.value;
    return Return::success;
  });
}

// Virtual GPUs are whole: the mode can be read, and is off.
SYMMCTS_NVML nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  return on_device(device, [&](const World&, int) {
    if (current == nullptr || pending == nullptr) return Return::invalid_argument;
    *current = *pending = 0;
    return Return::success;
  });
}

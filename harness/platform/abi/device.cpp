// Device queries. A CUdevice is the ordinal.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "harness/platform/abi/call.hpp"
#include "harness/platform/abi/device_attributes.hpp"
#include "harness/platform/abi/visible_devices.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

int local_index(const Runtime& runtime, int ordinal) {
  return runtime.visible[static_cast<std::size_t>(ordinal)] - runtime.client->machine().first_gpu;
}

}  // namespace

CUresult cuDeviceGet(Call& call, CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(Call& call, int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(call.runtime().visible.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(Call& call, char* name, int length, CUdevice device) {
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s",
                call.runtime().profile.gpu_name.value.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(Call& call, CUuuid* uuid, CUdevice device) {
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const Uuid bytes = device_uuid(call.runtime().visible[static_cast<std::size_t>(device)]);
  static_assert(sizeof uuid->bytes == sizeof bytes);
  std::memcpy(uuid->bytes, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(Call& call, CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid(call, uuid, device);
}

CUresult cuDeviceTotalMem_v2(Call& call, std::size_t* bytes, CUdevice device) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = call.runtime().profile.gpu_memory.value;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(Call& call, int* value, CUdevice_attribute attribute,
                              CUdevice device) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Runtime& runtime = call.runtime();
  if (!runtime.valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const int local = local_index(runtime, device);
  // Confidential computing turns multicast off, and the attribute says so (A0.4).
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED &&
      runtime.client->machine().confidential_computing) {
    *value = 0;
    return CUDA_SUCCESS;
  }
  switch (device_attribute(runtime.profile, local, attribute, *value)) {
    case Answer::known:
      return CUDA_SUCCESS;
    case Answer::no_such_attribute:
      return CUDA_ERROR_INVALID_VALUE;
    case Answer::not_modelled:
      break;
  }
  static Told told[CU_DEVICE_ATTRIBUTE_MAX];
  return call.not_modelled(told[attribute],
                           ("attribute " + std::to_string(static_cast<int>(attribute))).c_str());
}

CUresult cuDeviceComputeCapability(Call& call, int* major, int* minor, CUdevice device) {
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  *major = call.runtime().profile.compute_major.value;
  *minor = call.runtime().profile.compute_minor.value;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(Call& call, char* text, int length, CUdevice device) {
  if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::string id = pci_text(local_index(call.runtime(), device));
  if (id.size() >= static_cast<std::size_t>(length)) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(text, id.c_str(), id.size() + 1);
  return CUDA_SUCCESS;
}

// Accepts [domain]:[bus]:[device].[function], without function, and without domain (cuda.h).
CUresult cuDeviceGetByPCIBusId(Call& call, CUdevice* device, const char* text) {
  if (device == nullptr || text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = function = 0;
    if (std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
  }
  const Runtime& runtime = call.runtime();
  for (int ordinal = 0; runtime.valid_ordinal(ordinal); ++ordinal) {
    if (domain == 0 && slot == 0 && function == 0 &&
        static_cast<int>(bus) == pci_bus(local_index(runtime, ordinal))) {
      *device = ordinal;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

// GPUs of one host are all connected through the switch.
CUresult cuDeviceCanAccessPeer(Call& call, int* can, CUdevice device, CUdevice peer) {
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device) || !call.runtime().valid_ordinal(peer)) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *can = device == peer ? 0 : 1;
  return CUDA_SUCCESS;
}

// Performance rank 0, access and native atomics 1 as measured (provenance-and-overlap.txt); arrays
// are not modelled, so access to them is 0.
CUresult cuDeviceGetP2PAttribute(Call& call, int* value, CUdevice_P2PAttribute attribute,
                                 CUdevice source, CUdevice destination) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(source) || !call.runtime().valid_ordinal(destination) ||
      source == destination) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace symmcts::platform::abi

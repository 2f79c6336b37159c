// Multicast objects. Bind and map of an object block until every device has been added; that is
// Memory's and the broker's business.
#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

constexpr unsigned long long kHandleTypes =
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
    CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;

CUresult supported(const Call& call) {
  return call.runtime().profile.multicast.value ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

// The device that the 13.1 forms name must hold the memory.
CUresult check_owner(const Call& call, CUdevice device, int gpu) {
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  return call.runtime().ordinal_of(gpu) == device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

CUresult cuMulticastCreate(Call& call, CUmemGenericAllocationHandle* out,
                           const CUmulticastObjectProp* prop) {
  if (out == nullptr || prop == nullptr || prop->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((prop->handleTypes & ~kHandleTypes) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  if ((prop->handleTypes & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  AppHandle handle = 0;
  const Code code = call.runtime().memory->multicast_create(
      prop->numDevices, prop->size, static_cast<std::uint32_t>(prop->handleTypes), handle);
  if (code == Code::success) *out = handle;
  return to_result(code);
}

CUresult cuMulticastAddDevice(Call& call, CUmemGenericAllocationHandle handle, CUdevice device) {
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  return to_result(call.runtime().memory->multicast_add_device(handle, device));
}

CUresult cuMulticastBindMem(Call& call, CUmemGenericAllocationHandle handle, std::size_t mc_offset,
                            CUmemGenericAllocationHandle memory, std::size_t mem_offset,
                            std::size_t size, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  return to_result(
      call.runtime().memory->multicast_bind_mem(handle, mc_offset, memory, mem_offset, size));
}

CUresult cuMulticastBindMem_v2(Call& call, CUmemGenericAllocationHandle handle, CUdevice device,
                               std::size_t mc_offset, CUmemGenericAllocationHandle memory,
                               std::size_t mem_offset, std::size_t size, unsigned long long flags) {
  HandleInfo info;
  const Code code = call.runtime().memory->info(memory, info);
  if (code != Code::success) return to_result(code);
  if (const CUresult error = check_owner(call, device, info.gpu); error != CUDA_SUCCESS) {
    return error;
  }
  return cuMulticastBindMem(call, handle, mc_offset, memory, mem_offset, size, flags);
}

CUresult cuMulticastBindAddr(Call& call, CUmemGenericAllocationHandle handle, std::size_t mc_offset,
                             CUdeviceptr address, std::size_t size, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  return to_result(call.runtime().memory->multicast_bind_address(handle, mc_offset, address, size));
}

CUresult cuMulticastBindAddr_v2(Call& call, CUmemGenericAllocationHandle handle, CUdevice device,
                                std::size_t mc_offset, CUdeviceptr address, std::size_t size,
                                unsigned long long flags) {
  const AddressInfo info = call.runtime().memory->resolve(address);
  if (info.kind != AddressInfo::Kind::memory) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_owner(call, device, info.gpu); error != CUDA_SUCCESS) {
    return error;
  }
  return cuMulticastBindAddr(call, handle, mc_offset, address, size, flags);
}

CUresult cuMulticastUnbind(Call& call, CUmemGenericAllocationHandle handle, CUdevice device,
                           std::size_t mc_offset, std::size_t size) {
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  return to_result(call.runtime().memory->multicast_unbind(handle, device, mc_offset, size));
}

// A query of properties only: the object's size and device count may be left unset, as callers do
// (FlashInfer mixed_comm)
//.
CUresult cuMulticastGetGranularity(Call& call, std::size_t* out, const CUmulticastObjectProp* prop,
                                   CUmulticastGranularity_flags option) {
  if (out == nullptr || prop == nullptr || prop->flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((prop->handleTypes & ~kHandleTypes) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = supported(call); error != CUDA_SUCCESS) return error;
  const Profile& profile = call.runtime().profile;
  if (option == CU_MULTICAST_GRANULARITY_MINIMUM) {
    *out = profile.multicast_granularity.value;
  } else if (option == CU_MULTICAST_GRANULARITY_RECOMMENDED) {
    *out = profile.multicast_granularity_recommended.value;
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

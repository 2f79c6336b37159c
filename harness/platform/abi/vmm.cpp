// Virtual memory management. Memory checks what it is told in the order that was measured on the
// driver; here only what the C structures say is checked.
#include <array>
#include <cstring>
#include <vector>

#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

constexpr std::uint32_t kHandleTypes = kHandlePosixFd | kHandleFabric;
constexpr unsigned kWindowsHandles = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT;

bool host_location(CUmemLocationType type) {
  return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

// What cuMemCreate and cuMemGetAllocationGranularity require of a property. Measured
// (oracles/h200-x2): a Windows type is INVALID_VALUE; memory of the host with a handle type too,
// and so is HOST_NUMA_CURRENT (A2.2).
CUresult check_property(const Call& call, const CUmemAllocationProp* prop) {
  if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const unsigned types = prop->requestedHandleTypes;
  if ((types & kWindowsHandles) != 0) return CUDA_ERROR_INVALID_VALUE;
  const CUmemLocationType place = prop->location.type;
  if (place == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) return CUDA_ERROR_INVALID_VALUE;
  if (place == CU_MEM_LOCATION_TYPE_HOST && types != 0) return CUDA_ERROR_INVALID_VALUE;
  static Told host, rdma;
  if (host_location(place)) return call.not_modelled(host, "memory of the host");
  if (place != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
  if (prop->allocFlags.gpuDirectRDMACapable != 0) {
    return call.not_modelled(rdma, "memory for GPUDirect RDMA");
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAddressReserve(Call& call, CUdeviceptr* out, std::size_t size, std::size_t alignment,
                             CUdeviceptr hint, unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::uint64_t address = 0;
  const Code code = call.runtime().memory->reserve(size, alignment, hint, address);
  if (code == Code::success) *out = address;
  return to_result(code);
}

CUresult cuMemAddressFree(Call& call, CUdeviceptr address, std::size_t size) {
  return to_result(call.runtime().memory->free_reservation(address, size));
}

CUresult cuMemCreate(Call& call, CUmemGenericAllocationHandle* out, std::size_t size,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_property(call, prop); error != CUDA_SUCCESS) return error;
  // A bit that means nothing is accepted (measured); that it has no effect is inferred.
  const auto types = static_cast<std::uint32_t>(prop->requestedHandleTypes) & kHandleTypes;
  AppHandle handle = 0;
  const Code code = call.runtime().memory->create(prop->location.id, size, types, handle);
  if (code == Code::success) *out = handle;
  return to_result(code);
}

CUresult cuMemRelease(Call& call, CUmemGenericAllocationHandle handle) {
  return to_result(call.runtime().memory->release(handle));
}

CUresult cuMemMap(Call& call, CUdeviceptr address, std::size_t size, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return to_result(call.runtime().memory->map(address, size, offset, handle));
}

// Synchronizing (cuda.h:cuMemUnmap): no work may still use the range.
CUresult cuMemUnmap(Call& call, CUdeviceptr address, std::size_t size) {
  Runtime& runtime = call.runtime();
  for (int ordinal = 0; runtime.valid_ordinal(ordinal); ++ordinal) {
    const Code code = runtime.streams->synchronize_device(ordinal);
    if (code != Code::success) return to_result(code);
  }
  return to_result(runtime.memory->unmap(address, size));
}

CUresult cuMemSetAccess(Call& call, CUdeviceptr address, std::size_t size,
                        const CUmemAccessDesc* descriptions, std::size_t count) {
  if (descriptions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<AccessGrant> grants;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& wanted = descriptions[i];
    static Told told;
    if (host_location(wanted.location.type)) return call.not_modelled(told, "access for the host");
    if (wanted.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    // An ordinal that does not exist: INVALID_VALUE (measured; Memory says so).
    if (wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        wanted.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    grants.push_back({wanted.location.id, static_cast<std::uint32_t>(wanted.flags)});
  }
  return to_result(call.runtime().memory->set_access(address, size, grants));
}

CUresult cuMemGetAccess(Call& call, unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  if (flags == nullptr || location == nullptr || location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!call.runtime().valid_ordinal(location->id)) return CUDA_ERROR_INVALID_DEVICE;
  std::uint32_t granted = 0;
  const Code code = call.runtime().memory->get_access(address, location->id, granted);
  if (code == Code::success) *flags = granted;
  return to_result(code);
}

CUresult cuMemExportToShareableHandle(Call& call, void* out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    int fd = -1;
    const Code code = call.runtime().memory->export_fd(handle, fd);
    if (code == Code::success) *static_cast<int*>(out) = fd;
    return to_result(code);
  }
  if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
    std::array<std::uint8_t, 64> bytes{};
    static_assert(sizeof(CUmemFabricHandle) == sizeof bytes);
    const Code code = call.runtime().memory->export_fabric(handle, bytes);
    if (code == Code::success) std::memcpy(out, bytes.data(), bytes.size());
    return to_result(code);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemImportFromShareableHandle(Call& call, CUmemGenericAllocationHandle* out,
                                        void* os_handle, CUmemAllocationHandleType type) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Descriptor 0 is a null pointer here: INVALID_VALUE (measured).
  if (os_handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  AppHandle handle = 0;
  Code code = Code::invalid_value;
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    const auto fd = static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle));
    code = call.runtime().memory->import_fd(fd, handle);
  } else if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
    std::array<std::uint8_t, 64> bytes{};
    std::memcpy(bytes.data(), os_handle, bytes.size());
    code = call.runtime().memory->import_fabric(bytes, handle);
  }
  if (code == Code::success) *out = handle;
  return to_result(code);
}

CUresult cuMemGetAllocationGranularity(Call& call, std::size_t* out,
                                       const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = check_property(call, prop); error != CUDA_SUCCESS) return error;
  const Profile& profile = call.runtime().profile;
  if (option == CU_MEM_ALLOC_GRANULARITY_MINIMUM) {
    *out = profile.granularity.value;
  } else if (option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    *out = profile.granularity_recommended.value;
  } else {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// For a multicast object the driver's answer is not documented and not measured: refused.
CUresult cuMemGetAllocationPropertiesFromHandle(Call& call, CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
  if (prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
  HandleInfo info;
  const Code code = call.runtime().memory->info(handle, info);
  if (code != Code::success) return to_result(code);
  if (info.kind == ObjectKind::multicast) return CUDA_ERROR_INVALID_VALUE;
  *prop = CUmemAllocationProp{};
  prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop->requestedHandleTypes = static_cast<CUmemAllocationHandleType>(info.handle_types);
  prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop->location.id = call.runtime().ordinal_of(info.gpu);
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(Call& call, CUmemGenericAllocationHandle* out, void* address) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  AppHandle handle = 0;
  const Code code = call.runtime().memory->retain(reinterpret_cast<std::uint64_t>(address), handle);
  if (code == Code::success) *out = handle;
  return to_result(code);
}

}  // namespace symmcts::platform::abi

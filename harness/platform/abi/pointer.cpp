// Pointer attributes. The table for memory of each provenance is the measured one
// (hardware/README.md); no attribute says "multicast" (cuda.h lists none).
#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

template <typename T>
CUresult put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return CUDA_SUCCESS;
}

struct Pointer {
  CUdeviceptr address = 0;
  AddressInfo info;
  std::shared_ptr<Context> owner;  // of cuMemAlloc and pinned memory; none for mapped memory
  int ordinal = -1;
};

// False: the driver knows nothing of this address.
bool look(Runtime& runtime, CUdeviceptr address, Pointer& out) {
  out.address = address;
  out.info = runtime.memory->resolve(address);
  // Reserved space with nothing in it is as unknown as memory of the host (measured).
  if (out.info.kind == AddressInfo::Kind::host_pageable ||
      out.info.kind == AddressInfo::Kind::reserved) {
    return false;
  }
  out.ordinal = out.info.ordinal;
  std::uint64_t start = 0, size = 0;
  out.owner = runtime.block_owner(address, start, size);
  if (out.info.kind == AddressInfo::Kind::host_pinned) {
    const std::lock_guard lock(runtime.blocks_mutex);
    auto at = runtime.host_blocks.upper_bound(address);
    if (at != runtime.host_blocks.begin()) out.owner = (--at)->second.context;
    if (out.owner) out.ordinal = out.owner->ordinal;
  }
  return true;
}

CUresult access_flags(void* data, const Pointer& pointer) {
  const auto context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  const auto has = [&](std::uint64_t bits) { return ((bits >> context->ordinal) & 1U) != 0; };
  const bool pinned = pointer.info.kind == AddressInfo::Kind::host_pinned;
  return put<unsigned>(data, pinned || has(pointer.info.access)
                                 ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                             : has(pointer.info.readable) ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                                          : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
}

CUresult get(void* data, CUpointer_attribute attribute, const Pointer& pointer) {
  const AddressInfo& info = pointer.info;
  const bool host = info.kind == AddressInfo::Kind::host_pinned;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      // Mapped memory belongs to no context.
      return put<CUcontext>(data, pointer.owner ? pointer.owner->handle : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put<unsigned>(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put<CUdeviceptr>(data, pointer.address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!host) return CUDA_ERROR_INVALID_VALUE;
      return put<void*>(data, reinterpret_cast<void*>(pointer.address));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return put<unsigned>(data, 0);  // none of these is offered
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put<std::uint64_t>(data, info.block_id);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put<int>(data, pointer.ordinal);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put<CUdeviceptr>(data, info.range_start);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put<std::size_t>(data, info.range_size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put<unsigned>(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put<std::uint64_t>(data, info.allowed_handle_types);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return access_flags(data, pointer);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put<CUmemoryPool>(data, nullptr);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put<std::size_t>(data, info.mapping_size);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put<CUdeviceptr>(data, info.mapping_base);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// What cuPointerGetAttributes writes for an address that the driver does not know: zero of the
// attribute's size (cuda.h:cuPointerGetAttributes).
void put_nothing(void* data, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      put<unsigned>(data, 0);
      return;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      put<CUdevice>(data, CU_DEVICE_INVALID);
      return;
    default:
      put<std::uint64_t>(data, 0);
  }
}

}  // namespace

CUresult cuPointerGetAttribute(Call& call, void* data, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Pointer pointer;
  if (!look(call.runtime(), address, pointer)) return CUDA_ERROR_INVALID_VALUE;
  return get(data, attribute, pointer);
}

CUresult cuPointerGetAttributes(Call& call, unsigned int count, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr address) {
  if (attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Pointer pointer;
  const bool known = look(call.runtime(), address, pointer);
  for (unsigned i = 0; i < count; ++i) {
    if (data[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!known || get(data[i], attributes[i], pointer) != CUDA_SUCCESS) {
      put_nothing(data[i], attributes[i]);
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

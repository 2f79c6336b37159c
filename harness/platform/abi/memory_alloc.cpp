// cuMemAlloc and pinned host memory. The 32-bit forms of CUDA 2.0 are not modelled.
#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

constexpr std::size_t kPitchAlignment = 512;

CUresult alloc_host(Call& call, void** out, std::size_t bytes, unsigned flags) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  if (const Code code = runtime.memory->alloc_host(bytes, *out); code != Code::success) {
    return to_result(code);
  }
  const std::lock_guard lock(runtime.blocks_mutex);
  runtime.host_blocks[reinterpret_cast<std::uint64_t>(*out)] = {bytes, context, flags, false};
  return CUDA_SUCCESS;
}

// The host block that holds `address`, or null. Precondition: blocks_mutex is held.
const HostBlock* host_block(const Runtime& runtime, const void* address) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  auto at = runtime.host_blocks.upper_bound(number);
  if (at == runtime.host_blocks.begin()) return nullptr;
  --at;
  return number - at->first < at->second.size ? &at->second : nullptr;
}

}  // namespace

CUresult cuMemGetInfo_v2(Call& call, std::size_t* free_bytes, std::size_t* total) {
  if (free_bytes == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  std::uint64_t used = 0;
  call.runtime().memory->used(context->ordinal, used);
  *total = call.runtime().profile.gpu_memory.value;
  *free_bytes = used > *total ? 0 : *total - used;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(Call& call, CUdeviceptr* out, std::size_t bytes) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  std::uint64_t address = 0;
  const Code code = runtime.memory->alloc_device(context->ordinal, bytes, address);
  if (code != Code::success) return to_result(code);
  *out = address;
  const std::lock_guard lock(runtime.blocks_mutex);
  runtime.blocks[address] = {bytes, context};
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(Call& call, CUdeviceptr* out, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned int element) {
  if (pitch == nullptr || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  if (*pitch < width || height > SIZE_MAX / *pitch) return CUDA_ERROR_INVALID_VALUE;
  return cuMemAlloc_v2(call, out, *pitch * height);
}

// Waits for all work of the device, as the real one does where it cannot know who uses the block.
CUresult cuMemFree_v2(Call& call, CUdeviceptr address) {
  if (address == 0) return CUDA_SUCCESS;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  int ordinal = 0;
  {
    const std::lock_guard lock(runtime.blocks_mutex);
    const auto at = runtime.blocks.find(address);
    if (at == runtime.blocks.end()) return CUDA_ERROR_INVALID_VALUE;
    ordinal = at->second.context->ordinal;
    runtime.blocks.erase(at);
  }
  const Code waited = runtime.streams->synchronize_device(ordinal);
  const Code freed = runtime.memory->free_device(address);
  return to_result(waited == Code::success ? freed : waited);
}

CUresult cuMemGetAddressRange_v2(Call& call, CUdeviceptr* base, std::size_t* size,
                                 CUdeviceptr address) {
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  AddressInfo info = call.runtime().memory->resolve(address);
  if (info.mapping_size == 0) return CUDA_ERROR_NOT_FOUND;  // cuda.h:cuMemGetAddressRange
  // Of cuMemAlloc's memory what was asked for (measured), of other memory the mapping.
  std::uint64_t start = 0, size_asked = 0;
  if (call.runtime().block_owner(address, start, size_asked)) info.mapping_size = size_asked;
  if (base != nullptr) *base = info.mapping_base;
  if (size != nullptr) *size = info.mapping_size;
  return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(Call& call, void** out, std::size_t bytes, unsigned int flags) {
  constexpr unsigned kKnown =
      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  return alloc_host(call, out, bytes, flags);
}

CUresult cuMemAllocHost_v2(Call& call, void** out, std::size_t bytes) {
  return alloc_host(call, out, bytes, 0);
}

CUresult cuMemFreeHost(Call& call, void* address) {
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  {
    const std::lock_guard lock(runtime.blocks_mutex);
    const auto at = runtime.host_blocks.find(reinterpret_cast<std::uint64_t>(address));
    if (at == runtime.host_blocks.end() || at->second.registered) return CUDA_ERROR_INVALID_VALUE;
    runtime.host_blocks.erase(at);
  }
  const Code waited = runtime.streams->synchronize_device(context->ordinal);
  const Code freed = runtime.memory->free_host(address);
  return to_result(waited == Code::success ? freed : waited);
}

CUresult cuMemHostRegister_v2(Call& call, void* address, std::size_t bytes, unsigned int flags) {
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  static Told told;
  if ((flags & (CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)) != 0) {
    return call.not_modelled(told, "registering I/O or read-only memory");
  }
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  const std::lock_guard lock(runtime.blocks_mutex);
  const auto* last = static_cast<const char*>(address) + (bytes - 1);
  if (host_block(runtime, address) != nullptr || host_block(runtime, last) != nullptr) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  const Code code = runtime.memory->register_host(address, bytes);
  if (code == Code::success) {
    runtime.host_blocks[reinterpret_cast<std::uint64_t>(address)] = {bytes, context, flags, true};
  }
  return to_result(code);
}

CUresult cuMemHostRegister(Call& call, void* address, std::size_t bytes, unsigned int flags) {
  return cuMemHostRegister_v2(call, address, bytes, flags);
}

CUresult cuMemHostUnregister(Call& call, void* address) {
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  {
    const std::lock_guard lock(runtime.blocks_mutex);
    const auto at = runtime.host_blocks.find(reinterpret_cast<std::uint64_t>(address));
    if (at == runtime.host_blocks.end() || !at->second.registered) {
      // Inside a registered block: INVALID_VALUE (measured).
      const HostBlock* around = host_block(runtime, address);
      return around != nullptr && around->registered ? CUDA_ERROR_INVALID_VALUE
                                                     : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    runtime.host_blocks.erase(at);
  }
  const Code waited = runtime.streams->synchronize_device(context->ordinal);
  const Code ended = runtime.memory->unregister_host(address);
  return to_result(waited == Code::success ? ended : waited);
}

// Unified addressing: the device sees pinned memory at its host address.
CUresult cuMemHostGetDevicePointer_v2(Call& call, CUdeviceptr* out, void* address,
                                      unsigned int flags) {
  if (out == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  Runtime& runtime = call.runtime();
  const std::lock_guard lock(runtime.blocks_mutex);
  if (host_block(runtime, address) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = reinterpret_cast<CUdeviceptr>(address);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(Call& call, unsigned int* flags, void* address) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Runtime& runtime = call.runtime();
  const std::lock_guard lock(runtime.blocks_mutex);
  const HostBlock* block = host_block(runtime, address);
  if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = block->flags;
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {

// Sizes, counts, handle types and offsets of multicast calls are the object's business: the broker,
// which owns it, checks them. Here handles and ordinals of this process become those of the
// machine.

Code ProcessMemory::multicast_create(std::uint32_t devices, std::uint64_t size,
                                     std::uint32_t handle_types, AppHandle& out) {
  HandleInfo info;
  const Code code = gated("cuMulticastCreate", 0, [&](CallTime& time, std::uint64_t& gate_handle) {
    const Code made = client_.multicast_create(time, devices, size, handle_types, info);
    gate_handle = info.handle;
    return made;
  });
  if (code != Code::success) return code;
  const Ns now = clock_.now();
  std::lock_guard lock(mutex_);
  out = handles_.add(info, true, "cuMulticastCreate", now)->number;
  return Code::success;
}

Code ProcessMemory::multicast_add_device(AppHandle number, int ordinal) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMulticastAddDevice", number);
  if (handle->info.kind != ObjectKind::multicast) return Code::invalid_value;
  if (!visible(ordinal)) return Code::invalid_device;
  return gated("cuMulticastAddDevice", handle->info.handle, [&](CallTime& time, std::uint64_t&) {
    return client_.multicast_add_device(time, handle->info.handle,
                                        visible_[static_cast<std::size_t>(ordinal)]);
  });
}

Code ProcessMemory::multicast_bind_mem(AppHandle number, std::uint64_t mc_offset, AppHandle memory,
                                       std::uint64_t mem_offset, std::uint64_t size) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMulticastBindMem", number);
  const auto bound = find_handle(memory);
  if (!bound) return refuse("cuMulticastBindMem", memory);
  if (handle->info.kind != ObjectKind::multicast || bound->info.kind != ObjectKind::memory)
    return Code::invalid_value;
  bound->shared = true;
  return gated("cuMulticastBindMem", handle->info.handle, [&](CallTime& time, std::uint64_t&) {
    return client_.multicast_bind(time, handle->info.handle, mc_offset, bound->info.object,
                                  mem_offset, size);
  });
}

Code ProcessMemory::multicast_bind_address(AppHandle number, std::uint64_t mc_offset,
                                           std::uint64_t address, std::uint64_t size) {
  std::shared_ptr<Handle> handle;
  std::shared_ptr<Mapping> mapping;
  {
    std::lock_guard lock(mutex_);
    handle = handles_.find(number);
    mapping = mappings_.find(address);
  }
  if (!handle) return refuse("cuMulticastBindAddr", number);
  // Only memory of cuMemCreate: cuMemAlloc's gives INVALID_VALUE (A9.4, NCCL#1584).
  if (handle->info.kind != ObjectKind::multicast || !mapping || mapping->allocated ||
      mapping->handle->info.kind != ObjectKind::memory)
    return Code::invalid_value;
  const std::uint64_t offset = address - mapping->base;
  if (size > mapping->size - offset) return Code::invalid_value;
  mapping->handle->shared = true;
  return gated("cuMulticastBindAddr", handle->info.handle, [&](CallTime& time, std::uint64_t&) {
    return client_.multicast_bind(time, handle->info.handle, mc_offset,
                                  mapping->handle->info.object, offset, size);
  });
}

Code ProcessMemory::multicast_unbind(AppHandle number, int ordinal, std::uint64_t mc_offset,
                                     std::uint64_t size) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMulticastUnbind", number);
  if (handle->info.kind != ObjectKind::multicast) return Code::invalid_value;
  if (!visible(ordinal)) return Code::invalid_device;
  return gated("cuMulticastUnbind", handle->info.handle, [&](CallTime& time, std::uint64_t&) {
    return client_.multicast_unbind(time, handle->info.handle,
                                    visible_[static_cast<std::size_t>(ordinal)], mc_offset, size);
  });
}

}  // namespace symmcts::platform

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {

// cuMemAlloc is create, reserve, map and access in one. The application sees no handle for it, so
// that it can neither be retained, exported nor bound; only its own device may use it.
Code ProcessMemory::alloc_device(int ordinal, std::uint64_t size, std::uint64_t& address) {
  if (!visible(ordinal)) return Code::invalid_device;
  if (size == 0) return Code::invalid_value;
  const std::uint64_t granularity = profile_.granularity.value;
  if (size > kDeviceEnd - kDeviceBase - granularity) return Code::out_of_memory;
  const std::uint64_t rounded = (size + granularity - 1) / granularity * granularity;

  HandleInfo info;
  Mapped mapped;
  Code code = gated("cuMemAlloc", 0, [&](CallTime& time, std::uint64_t& gate_handle) {
    const int gpu = visible_[static_cast<std::size_t>(ordinal)];
    const Code made = client_.create_memory(time, gpu, rounded, 0, info);
    gate_handle = info.handle;
    return made;
  });
  if (code != Code::success) return code;

  auto mapping = std::make_shared<Mapping>();
  mapping->size = rounded;
  mapping->usable = size;
  mapping->access.resize(visible_.size());
  mapping->access[static_cast<std::size_t>(ordinal)] = 3;
  mapping->allocated = mapping->pending = true;
  {
    std::lock_guard lock(mutex_);
    code = space_.reserve(rounded, 0, 0, mapping->base);
    if (code == Code::success) {
      mapping->handle = handles_.add(info, true);
      mappings_.add(mapping);
      handles_.mapped(mapping->handle);
    }
  }
  if (code == Code::success) {
    code =
        timed("cuMemAlloc", [&](CallTime& time) { return client_.map(time, info.handle, mapped); });
    code = complete(mapping, code, mapped);
    // The mapping alone keeps the memory from here on, and so does nothing where there is none.
    std::lock_guard lock(mutex_);
    handles_.release(mapping->handle);
    if (code != Code::success) space_.release(mapping->base, rounded);
  }
  timed("cuMemAlloc", [&](CallTime& time) { return client_.release(time, info.handle); });
  if (code == Code::success) address = mapping->base;
  return code;
}

Code ProcessMemory::free_device(std::uint64_t address) {
  std::shared_ptr<Mapping> mapping;
  {
    std::lock_guard lock(mutex_);
    mapping = mappings_.find(address);
    if (!mapping || !mapping->allocated || mapping->base != address) return Code::invalid_value;
    mappings_.remove(*mapping);
  }
  const Code code = gated(
      "cuMemFree", mapping->handle->info.handle,
      [&](CallTime& time, std::uint64_t&) { return client_.unmap(time, mapping->broker_id); });
  dispose(mapping);
  std::lock_guard lock(mutex_);
  space_.release(mapping->base, mapping->size);
  return code;
}

Code ProcessMemory::alloc_host(std::uint64_t size, void*& address) {
  std::lock_guard lock(mutex_);
  return host_.allocate(size, address);
}

Code ProcessMemory::free_host(void* address) {
  std::lock_guard lock(mutex_);
  return host_.free(address);
}

Code ProcessMemory::register_host(void* address, std::uint64_t size) {
  std::lock_guard lock(mutex_);
  return host_.add(address, size);
}

Code ProcessMemory::unregister_host(void* address) {
  std::lock_guard lock(mutex_);
  return host_.remove(address);
}

void ProcessMemory::used(int ordinal, std::uint64_t& bytes) {
  bytes = 0;
  if (!visible(ordinal)) return;
  std::lock_guard lock(mutex_);
  bytes = handles_.created_bytes(visible_[static_cast<std::size_t>(ordinal)]);
}

}  // namespace symmcts::platform

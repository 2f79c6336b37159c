#include <algorithm>

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {

Code ProcessMemory::reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
                            std::uint64_t& address) {
  const Ns now = clock_.now();
  std::lock_guard lock(mutex_);
  const Code code = space_.reserve(size, alignment, hint, address);
  if (code == Code::success) reserved_[address] = now;
  return code;
}

Code ProcessMemory::free_reservation(std::uint64_t address, std::uint64_t size) {
  std::lock_guard lock(mutex_);
  // "free VA while mapped": INVALID_VALUE (measured).
  if (size == 0 || !mappings_.free(address, size)) return Code::invalid_value;
  const Code code = space_.release(address, size);
  if (code == Code::success) reserved_.erase(address);
  return code;
}

Code ProcessMemory::map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                        AppHandle number) {
  auto mapping = std::make_shared<Mapping>();
  {
    std::unique_lock lock(mutex_);
    auto handle = handles_.find(number);
    if (!handle) {
      lock.unlock();
      return refuse("cuMemMap", number);
    }
    const Code code = handle->info.kind == ObjectKind::multicast
                          ? check_multicast_map(address, size, offset, *handle)
                          : check_memory_map(address, size, offset, *handle);
    if (code != Code::success) return code;
    mapping->base = address;
    mapping->size = mapping->usable = size;
    mapping->handle = handle;
    mapping->access.resize(visible_.size());
    mapping->pending = true;
    mappings_.add(mapping);
    handles_.mapped(handle);
  }
  Mapped mapped;
  const Code code =
      gated("cuMemMap", mapping->handle->info.handle, [&](CallTime& time, std::uint64_t&) {
        return client_.map(time, mapping->handle->info.handle, mapped);
      });
  return complete(mapping, code, mapped);
}

// The order is the measured one (oracles/h200-x2): nothing to map is INVALID_VALUE; a size that is
// not the allocation's, be it unaligned or too large for the reservation as well, and an offset are
// NOT_SUPPORTED before anything else is looked at.
Code ProcessMemory::check_memory_map(std::uint64_t address, std::uint64_t size,
                                     std::uint64_t offset, const Handle& handle) const {
  if (size == 0) return Code::invalid_value;
  if (size != handle.info.size || offset != 0) return Code::not_supported;
  if (address % profile_.granularity.value != 0) return Code::invalid_value;
  if (!space_.holds(address, size) || !mappings_.free(address, size)) return Code::invalid_value;
  return Code::success;
}

// A multicast object may be mapped in part, from its start: code that needs [m, m + n) maps
// [0, m + n) and adds m (A6.5, mscclpp#535). Alignment is the multicast granularity (A3.2). Bounds
// are those of the effective size; an object whose size is not known yet has none (A4.9).
Code ProcessMemory::check_multicast_map(std::uint64_t address, std::uint64_t size,
                                        std::uint64_t offset, const Handle& handle) const {
  const std::uint64_t granularity = profile_.multicast_granularity.value;
  if (offset != 0) return Code::not_supported;
  if (size == 0 || size % granularity != 0 || address % granularity != 0)
    return Code::invalid_value;
  if (handle.info.size != 0 && size > handle.info.size) return Code::invalid_value;
  if (!space_.holds(address, size) || !mappings_.free(address, size)) return Code::invalid_value;
  return Code::success;
}

Code ProcessMemory::complete(const std::shared_ptr<Mapping>& mapping, Code code,
                             const Mapped& mapped) {
  const HandleInfo& info = mapping->handle->info;
  std::shared_ptr<MemoryFile> file;
  if (code == Code::success && info.kind == ObjectKind::memory)
    file = files_.adopt(info.object, mapped.memory_fd, info.size);

  const Ns now = clock_.now();
  std::lock_guard lock(mutex_);
  if (code != Code::success) {
    mappings_.remove(*mapping);
    handles_.unmapped(mapping->handle);
    return code;
  }
  mapping->broker_id = mapped.mapping;
  mapping->file = std::move(file);
  mapping->made_at = now;
  mapping->pending = false;
  return Code::success;
}

Code ProcessMemory::unmap(std::uint64_t address, std::uint64_t size) {
  std::vector<std::shared_ptr<Mapping>> tiles;
  {
    std::lock_guard lock(mutex_);
    // "partial unmap": INVALID_VALUE; reserved space where nothing is mapped: SUCCESS, alone or
    // around whole mappings, which go at once (measured).
    auto found = mappings_.inside(address, size);
    const auto kept = [](const auto& mapping) { return mapping->allocated || mapping->pending; };
    if (size == 0 || !found || !space_.covers(address, size) ||
        std::any_of(found->begin(), found->end(), kept)) {
      return Code::invalid_value;
    }
    tiles = std::move(*found);
    for (const auto& mapping : tiles) mappings_.remove(*mapping);
  }
  const std::uint64_t first = tiles.empty() ? 0 : tiles.front()->handle->info.handle;
  const Code code = gated("cuMemUnmap", first, [&](CallTime& time, std::uint64_t&) {
    Code worst = Code::success;
    for (const auto& mapping : tiles) {
      const Code one = client_.unmap(time, mapping->broker_id);
      if (worst == Code::success) worst = one;
      time.now = std::max(time.now, time.at);
    }
    return worst;
  });
  for (const auto& mapping : tiles) dispose(mapping);
  return code;
}

void ProcessMemory::dispose(const std::shared_ptr<Mapping>& mapping) {
  const HandleInfo& info = mapping->handle->info;
  if (info.kind == ObjectKind::multicast) replicas_.forget(info.object);
  std::lock_guard lock(mutex_);
  handles_.unmapped(mapping->handle);
}

// A handle may travel between NVLink domains; that no link leads there shows only when access is
// asked for (nvbandwidth#44).
bool ProcessMemory::crosses_domains(const std::vector<std::shared_ptr<Mapping>>& tiles,
                                    int ordinal) const {
  const int here = profile_.domain_of(visible_[static_cast<std::size_t>(ordinal)]);
  return std::any_of(tiles.begin(), tiles.end(), [&](const auto& mapping) {
    const HandleInfo& info = mapping->handle->info;
    return info.kind == ObjectKind::memory && info.gpu >= 0 && profile_.domain_of(info.gpu) != here;
  });
}

Code ProcessMemory::set_access(std::uint64_t address, std::uint64_t size,
                               const std::vector<AccessGrant>& grants) {
  std::lock_guard lock(mutex_);
  // "a fully mapped address range containing all allocations" (cuda.h:cuMemSetAccess); whole
  // mappings are multiples of the granularity that applies to them (A6.8).
  const auto tiles = mappings_.tiles(address, size);
  if (tiles.empty() || grants.empty()) return Code::invalid_value;
  for (const auto& mapping : tiles) {
    if (mapping->allocated) return Code::invalid_value;
  }
  for (const AccessGrant& grant : grants) {
    if (!visible(grant.ordinal)) return Code::invalid_value;  // measured
    if (grant.flags != 0 && grant.flags != 1 && grant.flags != 3) return Code::invalid_value;
    if (crosses_domains(tiles, grant.ordinal)) return Code::invalid_value;
  }
  for (const auto& mapping : tiles) {
    for (const AccessGrant& grant : grants)
      mapping->access[static_cast<std::size_t>(grant.ordinal)] =
          static_cast<std::uint8_t>(grant.flags);
  }
  return Code::success;
}

Code ProcessMemory::get_access(std::uint64_t address, int ordinal, std::uint32_t& flags) {
  if (!visible(ordinal)) return Code::invalid_device;
  std::lock_guard lock(mutex_);
  const auto mapping = mappings_.find(address);
  if (!mapping) return Code::invalid_value;
  flags = mapping->access[static_cast<std::size_t>(ordinal)];
  return Code::success;
}

}  // namespace symmcts::platform

#include <algorithm>

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {
namespace {

constexpr unsigned kRead = 1, kReadWrite = 3;  // cuda.h:CUmemAccess_flags

}  // namespace

AddressInfo ProcessMemory::resolve(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  AddressInfo out;
  if (const auto mapping = mappings_.find(address)) {
    const HandleInfo& info = mapping->handle->info;
    const bool multicast = info.kind == ObjectKind::multicast;
    out.kind = multicast ? AddressInfo::Kind::multicast : AddressInfo::Kind::memory;
    // The aperture reports one ordinal whoever asks (reported, torchcomms#3498); memory the owner's
    // ordinal as this process counts devices (measured).
    out.ordinal = multicast ? profile_.aperture_ordinal.value : ordinal_of(info.gpu);
    out.gpu = multicast ? -1 : info.gpu;
    out.native = info.native;
    out.allowed_handle_types = info.native ? info.handle_types : 0;
    out.object = info.object;
    out.offset = address - mapping->base;
    out.block_id = mapping->handle->block_id;
    out.mapping_base = mapping->base;
    out.mapping_size = mapping->size;
    for (std::size_t i = 0; i < mapping->access.size() && i < 64; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if (mapping->access[i] == kReadWrite) out.access |= bit;
      if ((mapping->access[i] & kRead) != 0) out.readable |= bit;
    }
    // cuMemAlloc: the block as it was asked for; otherwise the reservation (A15.1).
    const auto range = space_.find(address);
    out.range_start = mapping->allocated || !range ? mapping->base : range->start;
    out.range_size = mapping->allocated || !range ? mapping->usable : range->size;
    return out;
  }
  if (const auto range = space_.find(address)) {
    out.kind = AddressInfo::Kind::reserved;
    out.range_start = range->start;
    out.range_size = range->size;
    return out;
  }
  if (const auto block = host_.find(address)) {
    out.kind = AddressInfo::Kind::host_pinned;
    out.offset = address - block->start;
    out.range_start = block->start;
    out.range_size = block->size;
    out.access = out.readable =
        visible_.size() >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << visible_.size()) - 1;
    return out;
  }
  if (space_.dangling(address)) out.kind = AddressInfo::Kind::reserved;
  return out;
}

bool ProcessMemory::usable(std::uint64_t address, std::uint64_t size, int ordinal, Touch touch) {
  if (address + size < address || !visible(ordinal)) return false;
  std::lock_guard lock(mutex_);
  if (const auto block = host_.find(address)) return size <= block->size - (address - block->start);
  if (!mappings_.find(address)) return !space_.find(address) && !space_.dangling(address);

  const std::uint64_t end = address + size;
  const unsigned needed = touch == Touch::reads ? kRead : kReadWrite;
  while (address < end) {
    const auto mapping = mappings_.find(address);
    if (!mapping) return false;
    if ((mapping->access[static_cast<std::size_t>(ordinal)] & needed) != needed) return false;
    const std::uint64_t mapping_end = mapping->base + mapping->usable;
    // What cuMemAlloc rounded up is nobody's; where another mapping follows directly, go on.
    if (end > mapping_end && mapping->usable != mapping->size) return false;
    if (address >= mapping_end) return false;
    address = mapping_end;
  }
  return true;
}

std::vector<Place> ProcessMemory::places(std::uint64_t address, std::uint64_t size) {
  std::vector<Place> out;
  if (size == 0) return out;
  const Code code = visit(address, size, [&](const Target& target) {
    const bool host = target.allocation == 0;
    out.push_back({target.allocation, host ? address + target.at : target.offset, target.size});
  });
  if (code != Code::success) out.clear();
  return out;
}

bool ProcessMemory::shared(std::uint64_t address, std::uint64_t size) {
  std::lock_guard lock(mutex_);
  const std::uint64_t end = address + size;
  while (address < end) {
    const auto mapping = mappings_.find(address);
    if (!mapping) return false;
    if (mapping->handle->info.kind == ObjectKind::multicast || mapping->handle->shared) return true;
    address = mapping->base + mapping->size;
  }
  return false;
}

}  // namespace symmcts::platform

#include "harness/platform/process/address_space.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace symmcts::platform {
namespace {

// How far to move on where the kernel refuses a place: coarse enough to cross a whole library
// region in few calls.
constexpr std::uint64_t kStep = std::uint64_t{64} << 20;

bool power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

std::uint64_t align_up(std::uint64_t n, std::uint64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

AddressSpace::AddressSpace(std::uint64_t granularity)
    : page_(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
      granularity_(std::max(granularity, page_)) {}

AddressSpace::~AddressSpace() {
  for (const auto& [start, size] : ranges_) munmap(pointer(start), size);
}

Code AddressSpace::reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
                           std::uint64_t& address) {
  if (size == 0 || size % granularity_ != 0 || hint % page_ != 0) return Code::invalid_value;
  if (alignment != 0 && !power_of_two(alignment)) return Code::invalid_value;
  if (size > kDeviceEnd - kDeviceBase) return Code::out_of_memory;
  const std::uint64_t aligned = std::max(alignment, granularity_);
  if (aligned > kDeviceEnd - kDeviceBase) return Code::out_of_memory;

  const bool usable_hint = hint >= kDeviceBase && hint <= kDeviceEnd - size && hint % aligned == 0;
  if (usable_hint && free_at(hint, size) && take(hint, size)) {
    address = hint;
    return Code::success;
  }
  const auto start = lowest(size, aligned);
  if (!start) return Code::out_of_memory;
  address = *start;
  return Code::success;
}

Code AddressSpace::release(std::uint64_t address, std::uint64_t size) {
  const auto range = ranges_.find(address);
  if (range == ranges_.end() || range->second != size) return Code::invalid_value;
  munmap(pointer(address), size);
  ranges_.erase(range);
  return Code::success;
}

std::optional<AddressRange> AddressSpace::find(std::uint64_t address) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return std::nullopt;
  --range;
  if (address - range->first >= range->second) return std::nullopt;
  return AddressRange{range->first, range->second};
}

bool AddressSpace::holds(std::uint64_t address, std::uint64_t size) const {
  const auto range = find(address);
  return range && size <= range->size - (address - range->start);
}

bool AddressSpace::covers(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t end = address + size;
  if (end < address) return false;
  while (address < end) {
    const auto range = find(address);
    if (!range) return false;
    address = range->start + range->size;
  }
  return true;
}

bool AddressSpace::dangling(std::uint64_t address) const {
  if (address < kDeviceBase || address >= highest_ || find(address)) return false;
  unsigned char resident = 0;
  return mincore(pointer(address / page_ * page_), page_, &resident) != 0;
}

bool AddressSpace::free_at(std::uint64_t start, std::uint64_t size) const {
  const auto next = ranges_.lower_bound(start);
  if (next != ranges_.end() && next->first - start < size) return false;
  if (next == ranges_.begin()) return true;
  const auto before = std::prev(next);
  return before->first + before->second <= start;
}

bool AddressSpace::take(std::uint64_t start, std::uint64_t size) {
  void* const got = mmap(pointer(start), size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got != pointer(start)) {  // a kernel that takes the flag for a hint
    munmap(got, size);
    return false;
  }
  ranges_.emplace(start, size);
  highest_ = std::max(highest_, start + size);
  return true;
}

std::optional<std::uint64_t> AddressSpace::lowest(std::uint64_t size, std::uint64_t alignment) {
  std::uint64_t start = align_up(kDeviceBase, alignment);
  auto next = ranges_.begin();
  while (start <= kDeviceEnd - size) {
    // Move past every reservation that begins before the candidate would end.
    while (next != ranges_.end() && next->first < start + size) {
      start = std::max(start, align_up(next->first + next->second, alignment));
      ++next;
    }
    if (start > kDeviceEnd - size) break;
    if (next != ranges_.end() && next->first < start + size) continue;
    if (take(start, size)) return start;
    start = align_up(start + kStep, alignment);
  }
  return std::nullopt;
}

}  // namespace symmcts::platform

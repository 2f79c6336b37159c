#include "harness/platform/process/host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

namespace symmcts::platform {
namespace {

std::uint64_t number(const void* address) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
}

std::uint64_t whole_pages(std::uint64_t size) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [start, block] : blocks_) {
    if (block.allocated)
      munmap(reinterpret_cast<void*>(static_cast<std::uintptr_t>(start)), whole_pages(block.size));
  }
}

Code HostMemory::allocate(std::uint64_t size, void*& address) {
  if (size == 0) return Code::invalid_value;
  if (whole_pages(size) < size) return Code::out_of_memory;
  void* const got =
      mmap(nullptr, whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return Code::out_of_memory;
  blocks_.emplace(number(got), HostBlock{number(got), size, true});
  address = got;
  return Code::success;
}

Code HostMemory::free(void* address) {
  const auto block = blocks_.find(number(address));
  if (block == blocks_.end() || !block->second.allocated) return Code::invalid_value;
  munmap(address, whole_pages(block->second.size));
  blocks_.erase(block);
  return Code::success;
}

Code HostMemory::add(void* address, std::uint64_t size) {
  const std::uint64_t start = number(address);
  if (start == 0 || size == 0 || start + size < start) return Code::invalid_value;
  const auto next = blocks_.lower_bound(start);
  const bool meets_next = next != blocks_.end() && next->first - start < size;
  if (meets_next || find(start)) return Code::host_memory_already_registered;
  blocks_.emplace(start, HostBlock{start, size, false});
  return Code::success;
}

Code HostMemory::remove(void* address) {
  const auto block = blocks_.find(number(address));
  if (block == blocks_.end() || block->second.allocated) return Code::host_memory_not_registered;
  blocks_.erase(block);
  return Code::success;
}

std::optional<HostBlock> HostMemory::find(std::uint64_t address) const {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return std::nullopt;
  --block;
  if (address - block->first >= block->second.size) return std::nullopt;
  return block->second;
}

}  // namespace symmcts::platform

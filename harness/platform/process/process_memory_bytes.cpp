#include <algorithm>
#include <atomic>
#include <cstring>

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {
namespace {

// Words are stored and read whole, because other processes look at them while they change.
template <typename Word>
void store(std::byte* at, std::uint64_t value) {
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(at))
      .store(static_cast<Word>(value), std::memory_order_release);
}

std::uint32_t load(std::byte* at) {
  return std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(at))
      .load(std::memory_order_acquire);
}

// Fills [to, to + size) with a pattern of `width` bytes; size is a multiple of it.
void repeat(std::byte* to, std::uint64_t size, std::uint32_t value, int width) {
  if (width == 1) {
    std::memset(to, static_cast<int>(value & 0xff), size);
    return;
  }
  const auto half = static_cast<std::uint16_t>(value);
  const void* const pattern = width == 2 ? static_cast<const void*>(&half) : &value;
  std::uint64_t done = static_cast<std::uint64_t>(width);
  std::memcpy(to, pattern, done);
  while (done < size) {  // double what is there
    const std::uint64_t more = std::min(done, size - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
}

}  // namespace

bool ProcessMemory::split(std::uint64_t address, std::uint64_t size, std::vector<Stretch>& out) {
  if (address == 0 || address + size < address) return false;
  std::lock_guard lock(mutex_);
  if (!mappings_.find(address)) {
    if (space_.find(address) || space_.dangling(address)) return false;
    Stretch host;
    host.size = size;
    host.host = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    out.push_back(std::move(host));
    return true;
  }
  const std::uint64_t end = address + size;
  while (address < end) {
    const auto mapping = mappings_.find(address);
    if (!mapping || address - mapping->base >= mapping->usable) return false;
    Stretch stretch;
    stretch.mapping = mapping;
    stretch.offset = address - mapping->base;
    stretch.size = std::min(end - address, mapping->usable - stretch.offset);
    address += stretch.size;
    out.push_back(std::move(stretch));
  }
  return true;
}

// Calls `visit` for every piece of memory that a write to [address, address + size) reaches now.
// Nothing is visited unless the whole range is good. What no replica of a multicast object is bound
// to is dropped without a sign (A12.14).
Code ProcessMemory::visit(std::uint64_t address, std::uint64_t size, const Visit& visit) {
  std::vector<Stretch> stretches;
  if (!split(address, size, stretches)) return Code::illegal_address;
  std::uint64_t at = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.host != nullptr) {
      visit({stretch.host, at, stretch.size, 0, 0});
    } else if (stretch.mapping->handle->info.kind == ObjectKind::multicast) {
      if (const Code code = visit_replicas(stretch, at, visit); code != Code::success) return code;
    } else {
      std::byte* const bytes = stretch.mapping->file->bytes();
      if (bytes == nullptr) return Code::unknown;
      visit({bytes + stretch.offset, at, stretch.size, stretch.mapping->handle->info.object,
             stretch.offset});
    }
    at += stretch.size;
  }
  return Code::success;
}

Code ProcessMemory::visit_replicas(const Stretch& stretch, std::uint64_t at, const Visit& visit) {
  std::vector<ReachableReplica> replicas;
  const Code code = replicas_.reach(stretch.mapping->handle->info.object, replicas);
  if (code != Code::success) return code;
  for (const ReachableReplica& replica : replicas) {
    const Replica& range = replica.range;
    const std::uint64_t from = std::max(stretch.offset, range.mc_offset);
    const std::uint64_t to = std::min(stretch.offset + stretch.size, range.mc_offset + range.size);
    if (from >= to) continue;
    std::byte* const bytes = replica.file->bytes();
    if (bytes == nullptr) return Code::unknown;
    const std::uint64_t offset = range.mem_offset + (from - range.mc_offset);
    if (offset + (to - from) > replica.file->size()) return Code::unknown;
    visit({bytes + offset, at + (from - stretch.offset), to - from, range.allocation, offset});
  }
  return Code::success;
}

// What a wait saw before this store is settled before it, or it would depend on who looks first.
void ProcessMemory::touch(const Target& target) {
  if (target.allocation == 0) return;  // host memory has no log
  const std::uint64_t first = target.offset / 4 * 4;
  const std::uint64_t last = (target.offset + target.size + 3) / 4 * 4;
  client_.touch_words(target.allocation, first, last - first);
}

Code ProcessMemory::copy_bytes(std::uint64_t destination, std::uint64_t source,
                               std::uint64_t size) {
  if (size == 0) return Code::success;
  std::vector<Stretch> sources;
  if (!split(source, size, sources)) return Code::illegal_address;
  std::uint64_t at = 0;
  for (const Stretch& from : sources) {
    const std::byte* bytes = from.host;
    if (bytes == nullptr) {
      if (from.mapping->handle->info.kind == ObjectKind::multicast) return Code::illegal_address;
      std::byte* const file = from.mapping->file->bytes();
      if (file == nullptr) return Code::unknown;
      bytes = file + from.offset;
    }
    const Code code = visit(destination + at, from.size, [&](const Target& target) {
      if (size <= kLongestSignal) touch(target);
      std::memmove(target.bytes, bytes + target.at, target.size);
    });
    if (code != Code::success) return code;
    at += from.size;
  }
  return Code::success;
}

Code ProcessMemory::fill_bytes(std::uint64_t destination, std::uint32_t value, int width,
                               std::uint64_t count) {
  if (width != 1 && width != 2 && width != 4) return Code::invalid_value;
  if (destination % static_cast<std::uint64_t>(width) != 0) return Code::invalid_value;
  if (count == 0) return Code::success;
  if (count > kNever / 4) return Code::invalid_value;
  const std::uint64_t size = count * static_cast<std::uint64_t>(width);
  return visit(destination, size, [&](const Target& target) {
    if (size <= kLongestSignal) touch(target);
    repeat(target.bytes, target.size, value, width);
  });
}

Code ProcessMemory::write_word(std::uint64_t destination, std::uint64_t value, int width, Ns at) {
  if (width != 4 && width != 8) return Code::invalid_value;
  if (destination % static_cast<std::uint64_t>(width) != 0) return Code::invalid_value;
  if (width == 4) value &= 0xffff'ffff;
  return visit(destination, static_cast<std::uint64_t>(width), [&](const Target& target) {
    touch(target);
    if (width == 4)
      store<std::uint32_t>(target.bytes, value);
    else
      store<std::uint64_t>(target.bytes, value);
    if (target.allocation != 0)
      client_.word_write(target.allocation, target.offset, static_cast<std::uint8_t>(width), value,
                         at);
  });
}

void ProcessMemory::log_words(std::uint64_t destination, std::uint64_t size, Ns at) {
  if (size == 0) return;
  visit(destination, size, [&](const Target& target) {
    if (target.allocation == 0) return;
    // Every word that was touched, as a whole: allocations begin and end on word boundaries.
    const auto log = [&](std::uint64_t offset) {
      const auto from_start = static_cast<std::ptrdiff_t>(offset - target.offset);
      client_.word_write(target.allocation, offset, 4, load(target.bytes + from_start), at);
    };
    const std::uint64_t end = target.offset + target.size;
    if (size <= kLongestSignal) {
      for (std::uint64_t offset = target.offset / 4 * 4; offset < end; offset += 4) log(offset);
    } else {
      // What a wait would go by must not be older than the memory.
      for (const auto offset : client_.open_words(target.allocation, target.offset, target.size))
        log(offset);
    }
  });
}

}  // namespace symmcts::platform

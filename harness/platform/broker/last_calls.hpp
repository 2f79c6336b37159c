#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace symmcts::platform {

// The last few calls of a process, for reports on why it does not move. Names are string literals;
// one call several times in a row counts once. Any thread may note and read; a note that a reader
// overtakes is only missing from what it reads.
class LastCalls {
 public:
  static constexpr std::uint64_t kKept = 4;

  void note(const char* function) {
    if (newest_.exchange(function, std::memory_order_relaxed) == function) return;
    const std::uint64_t at = count_.fetch_add(1, std::memory_order_relaxed);
    ring_[at % kKept].store(function, std::memory_order_relaxed);
  }

  // "cuMemCreate, cuMulticastAddDevice", the last one at the end.
  std::string text() const {
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    std::string out;
    for (std::uint64_t at = count - std::min(count, kKept); at < count; ++at) {
      const char* function = ring_[at % kKept].load(std::memory_order_relaxed);
      if (function != nullptr) out += (out.empty() ? "" : ", ") + std::string(function);
    }
    return out;
  }

 private:
  std::atomic<const char*> newest_{nullptr};
  std::atomic<std::uint64_t> count_{0};
  std::array<std::atomic<const char*>, kKept> ring_{};
};

}  // namespace symmcts::platform

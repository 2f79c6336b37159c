#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "harness/platform/process/streams.hpp"

namespace symmcts::platform::abi {

// What a CUcontext stands for. A primary context keeps its object over release and retain.
struct Context {
  CUcontext handle = nullptr;
  std::uint32_t id = 0;  // as CUPTI and cuCtxGetId show it; from 1 in creation order
  int ordinal = 0;
  bool primary = false;
  std::atomic<bool> alive{true};
  std::atomic<unsigned> flags{0};
  std::mutex mutex;     // guards what follows
  int references = 0;   // of a primary context
  std::set<int> peers;  // ordinals whose cuMemAlloc memory this context may use
};

struct Stream {
  CUstream handle = nullptr;  // null for a default stream
  StreamId id = 0;
  std::shared_ptr<Context> context;
  unsigned flags = CU_STREAM_DEFAULT;
  int priority = 0;
};

struct Event {
  CUevent handle = nullptr;
  EventId id = 0;
  std::shared_ptr<Context> context;
  std::atomic<bool> recorded{false};  // outside of captures
};

// Opaque handles of one kind. A number is never given twice, so that the use of a destroyed or
// invented handle is an error here where the real driver crashes (hardware/README.md). Thread safe.
template <typename T, typename Handle>
class HandleTable {
 public:
  explicit HandleTable(std::uintptr_t base) : next_(base) {}

  // Stores `object`, writes its handle into it and returns that.
  Handle insert(const std::shared_ptr<T>& object) {
    const std::lock_guard lock(mutex_);
    next_ += 16;
    const auto handle = reinterpret_cast<Handle>(next_);
    object->handle = handle;
    objects_.emplace(next_, object);
    return handle;
  }

  // The object, or null where `handle` names none.
  std::shared_ptr<T> find(Handle handle) const {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }

  // Takes the object out; null where `handle` names none.
  std::shared_ptr<T> take(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (at == objects_.end()) return nullptr;
    auto object = std::move(at->second);
    objects_.erase(at);
    return object;
  }

  // All objects, in no particular order.
  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> out;
    out.reserve(objects_.size());
    for (const auto& [handle, object] : objects_) out.push_back(object);
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::uintptr_t next_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace symmcts::platform::abi

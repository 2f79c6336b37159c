#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "harness/platform/abi/misuse.hpp"
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
  bool of_thread = false;  // a per-thread default stream, which no client has made
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
  // `what` it holds, for reports of misuse.
  HandleTable(std::uintptr_t base, const char* what) : base_(base), next_(base), what_(what) {}

  // Stores `object`, writes its handle into it and returns that.
  Handle insert(const std::shared_ptr<T>& object) {
    const Birth birth = birth_in_this_call();
    const std::lock_guard lock(mutex_);
    next_ += 16;
    const auto handle = reinterpret_cast<Handle>(next_);
    object->handle = handle;
    objects_.emplace(next_, Entry{object, birth});
    return handle;
  }

  // The object; null, with a report, where `handle` names none.
  std::shared_ptr<T> find(Handle handle) const {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    {
      const std::lock_guard lock(mutex_);
      const auto at = objects_.find(number);
      if (at != objects_.end()) return at->second.object;
    }
    report_missing(what_, number, given(number), false);
    return nullptr;
  }

  // Takes the object out; null, with a report, where `handle` names none.
  std::shared_ptr<T> take(Handle handle) {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    {
      const std::lock_guard lock(mutex_);
      const auto at = objects_.find(number);
      if (at != objects_.end()) {
        auto object = std::move(at->second.object);
        objects_.erase(at);
        return object;
      }
    }
    report_missing(what_, number, given(number), true);
    return nullptr;
  }

  // All objects, in no particular order.
  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> out;
    out.reserve(objects_.size());
    for (const auto& [handle, entry] : objects_) out.push_back(entry.object);
    return out;
  }

  // The same with the calls that made them.
  std::vector<std::pair<std::shared_ptr<T>, Birth>> born() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::shared_ptr<T>, Birth>> out;
    for (const auto& [handle, entry] : objects_) out.emplace_back(entry.object, entry.birth);
    return out;
  }

 private:
  struct Entry {
    std::shared_ptr<T> object;
    Birth birth;
  };

  bool given(std::uintptr_t number) const {
    const std::lock_guard lock(mutex_);
    return number > base_ && number <= next_ && (number - base_) % 16 == 0;
  }

  mutable std::mutex mutex_;
  const std::uintptr_t base_;
  std::uintptr_t next_;
  const char* const what_;
  std::unordered_map<std::uintptr_t, Entry> objects_;
};

}  // namespace symmcts::platform::abi

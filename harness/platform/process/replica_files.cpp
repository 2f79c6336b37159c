#include "harness/platform/process/replica_files.hpp"

#include <utility>

namespace symmcts::platform {

Code ReplicaFiles::reach(std::uint64_t object, std::vector<ReachableReplica>& out) {
  std::vector<Replica> ranges;
  if (const Code code = client_.replicas(object, ranges); code != Code::success) return code;

  Files before;
  {
    std::lock_guard lock(mutex_);
    before = objects_[object];
  }
  Files now;
  out.clear();
  for (const Replica& range : ranges) {
    auto& file = now[range.allocation];
    if (!file) {
      const auto kept = before.find(range.allocation);
      if (kept != before.end()) file = kept->second;
    }
    if (!file) file = files_.find(range.allocation);
    if (!file) {
      int fd = -1;
      std::uint64_t size = 0;
      const Code code = client_.memory_fd(range.allocation, fd, size);
      if (code == Code::unknown) return code;
      if (code != Code::success) {
        now.erase(range.allocation);
        continue;
      }
      file = files_.adopt(range.allocation, fd, size);
    }
    out.push_back({range, file});
  }
  std::lock_guard lock(mutex_);
  objects_[object] = std::move(now);
  return Code::success;
}

void ReplicaFiles::forget(std::uint64_t object) {
  std::lock_guard lock(mutex_);
  objects_.erase(object);
}

}  // namespace symmcts::platform

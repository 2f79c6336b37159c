#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/process/memory.hpp"

namespace symmcts::platform {

// One physical handle of this process: what cuMemCreate, cuMulticastCreate or an import gave out.
struct Handle {
  AppHandle number = 0;          // what the application sees
  HandleInfo info;               // what the broker knows it as
  std::uint64_t block_id = 0;    // CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID of its mappings
  std::uint32_t references = 0;  // one each of create, import and retain, less the releases
  std::uint32_t mappings = 0;
  std::atomic<bool> shared{false};  // other processes may reach its memory
  const char* made_by = "";         // the call, and when it was made
  Ns made_at = 0;
};

// The handles of one process. Numbers are handed out in call order and never again, so that a
// released or invented one is always recognized. A handle that the application has released stays
// while something is mapped from it, because cuMemRetainAllocationHandle gives its value back
// (A5.1). Not thread safe; the owner locks.
class HandleTable {
 public:
  // A new handle with one reference; `created`: its object began its life in this process.
  std::shared_ptr<Handle> add(const HandleInfo& info, bool created, const char* made_by = "",
                              Ns made_at = 0);
  // The handle that the application knows by this number and still holds; null otherwise.
  std::shared_ptr<Handle> find(AppHandle number) const;
  // It was given out, now or ever.
  bool given(AppHandle number) const;
  // Those that the application still holds, in the order in which they were made.
  std::vector<std::shared_ptr<Handle>> held() const;
  // Adds a reference to a handle that the application may have released meanwhile.
  void reference(const std::shared_ptr<Handle>& handle);
  // Takes one reference; true if it was the last.
  bool release(const std::shared_ptr<Handle>& handle);
  void mapped(const std::shared_ptr<Handle>& handle);
  void unmapped(const std::shared_ptr<Handle>& handle);
  // Bytes of memory on `gpu` that this process created and that a handle or mapping of it keeps.
  std::uint64_t created_bytes(int gpu) const;

 private:
  void forget_if_unused(const Handle& handle);

  static constexpr AppHandle kFirst = 0x6d00'0000'0010;  // unlike any address: a mix-up is seen
  static constexpr AppHandle kStep = 0x10;
  AppHandle next_ = kFirst;
  std::map<AppHandle, std::shared_ptr<Handle>> handles_;
  std::set<std::uint64_t> created_;                   // objects
  std::map<std::uint64_t, std::uint64_t> block_ids_;  // object → id, in order of appearance
};

}  // namespace symmcts::platform

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

struct HostBlock {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  bool allocated = false;  // by us; otherwise the application's own memory, registered
};

// The pinned host memory of one process. Not thread safe; the owner locks.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Zeroed, page-aligned memory. invalid_value for size 0, out_of_memory where the system has none.
  Code allocate(std::uint64_t size, void*& address);
  // invalid_value unless `address` is what allocate() gave.
  Code free(void* address);
  // host_memory_already_registered where any byte belongs to a block (cuda.h:cuMemHostRegister).
  Code add(void* address, std::uint64_t size);
  // host_memory_not_registered unless `address` is what add() took (cuda.h:cuMemHostUnregister).
  Code remove(void* address);

  // The block that holds `address`.
  std::optional<HostBlock> find(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, HostBlock> blocks_;
};

}  // namespace symmcts::platform

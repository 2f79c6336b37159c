#pragma once

#include <cstdint>
#include <optional>

#include "harness/support/unique_fd.hpp"

namespace symmcts::platform {

// The bytes of one physical allocation: a memory file of fixed size, zero until written. Clients
// map it through descriptors of their own; nobody can make it shorter, so no mapping of it can
// fault.
class MachineMemory {
 public:
  // Nothing when the system has no room for it. `size` in bytes, over 0.
  static std::optional<MachineMemory> make(std::uint64_t size);

  // A descriptor that stays owned by this object.
  int fd() const { return fd_.get(); }
  // The four bytes at `offset`, as this machine reads a word; 0 beyond the end.
  std::uint32_t word(std::uint64_t offset) const;

 private:
  explicit MachineMemory(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace symmcts::platform

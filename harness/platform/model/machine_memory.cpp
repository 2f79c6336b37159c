#include "harness/platform/model/machine_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace symmcts::platform {

std::optional<MachineMemory> MachineMemory::make(std::uint64_t size) {
  UniqueFd fd(::memfd_create("symmcts-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return std::nullopt;
  // A client that cut the file short would let every other client's access end in SIGBUS.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return std::nullopt;
  }
  return MachineMemory(std::move(fd));
}

std::uint32_t MachineMemory::word(std::uint64_t offset) const {
  std::uint32_t value = 0;
  const ssize_t got = ::pread(fd_.get(), &value, sizeof value, static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(sizeof value) ? value : 0;
}

}  // namespace symmcts::platform

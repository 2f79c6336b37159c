#include "harness/platform/abi/span.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace symmcts::platform::abi {
namespace {

// Where Memory reserves device addresses (memory.hpp). The kernel may put host memory there too:
// its mappings begin up to some TiB below the stack.
constexpr CUdeviceptr kDeviceAddresses = 0x7e80'0000'0000;
constexpr CUdeviceptr kDeviceAddressesEnd = 0x7eff'0000'0000;

// Is there any memory of this process at the address? (mincore(2): ENOMEM where there is none.)
bool is_mapped(CUdeviceptr address) {
  const auto page = static_cast<CUdeviceptr>(sysconf(_SC_PAGESIZE));
  unsigned char present = 0;
  return mincore(reinterpret_cast<void*>(address / page * page), 1, &present) == 0;
}

bool peer_enabled(Context& context, int ordinal) {
  const std::lock_guard lock(context.mutex);
  return context.peers.contains(ordinal);
}

}  // namespace

CUresult check_span(const Call& call, Context& context, CUdeviceptr address, std::size_t bytes,
                    Want want, AddressInfo& info) {
  if (address == 0) return CUDA_ERROR_INVALID_VALUE;
  Runtime& runtime = call.runtime();
  info = runtime.memory->resolve(address);
  switch (info.kind) {
    case AddressInfo::Kind::reserved:
      return CUDA_ERROR_INVALID_VALUE;
    case AddressInfo::Kind::host_pageable:
      if (want == Want::device) return CUDA_ERROR_INVALID_VALUE;
      // A device address that was never ours would fault when the bytes move.
      if (address >= kDeviceAddresses && address < kDeviceAddressesEnd && !is_mapped(address)) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      return CUDA_SUCCESS;
    case AddressInfo::Kind::host_pinned:
    case AddressInfo::Kind::memory:
    case AddressInfo::Kind::multicast:
      break;
  }
  std::uint64_t start = 0, size = 0;
  const auto owner = runtime.block_owner(address, start, size);
  if (owner && owner->ordinal != context.ordinal) {
    if (bytes > size - (address - start)) return CUDA_ERROR_INVALID_VALUE;
    if (peer_enabled(context, owner->ordinal)) return CUDA_SUCCESS;
    static Told told;
    return call.not_modelled(told, "a copy staged through the host (peer access is not enabled)");
  }
  return runtime.memory->usable(address, bytes, context.ordinal) ? CUDA_SUCCESS
                                                                 : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace symmcts::platform::abi

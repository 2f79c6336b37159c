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

// `no_access`: the memory is there and its own device may touch it, but `context` may not. Then the
// result is SUCCESS.
CUresult look(const Call& call, Context& context, CUdeviceptr address, std::size_t bytes, Want want,
              Touch touch, AddressInfo& info, bool& no_access) {
  no_access = false;
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
    no_access = !peer_enabled(context, owner->ordinal);
    return CUDA_SUCCESS;
  }
  if (runtime.memory->usable(address, bytes, context.ordinal, touch)) return CUDA_SUCCESS;
  no_access = info.kind == AddressInfo::Kind::memory && info.ordinal >= 0 &&
              info.ordinal != context.ordinal &&
              runtime.memory->usable(address, bytes, info.ordinal, touch);
  return no_access ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult check_span(const Call& call, Context& context, CUdeviceptr address, std::size_t bytes,
                    Want want, Touch touch, AddressInfo& info) {
  bool no_access = false;
  const CUresult result = look(call, context, address, bytes, want, touch, info, no_access);
  return result == CUDA_SUCCESS && no_access ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult check_copy(const Call& call, Context& context, CUdeviceptr destination,
                    Want destination_want, CUdeviceptr source, Want source_want, std::size_t bytes,
                    CopyEnds& ends) {
  bool to_refused = false, from_refused = false;
  CUresult result = look(call, context, destination, bytes, destination_want, Touch::writes,
                         ends.destination, to_refused);
  if (result != CUDA_SUCCESS) return result;
  result = look(call, context, source, bytes, source_want, Touch::reads, ends.source, from_refused);
  if (result != CUDA_SUCCESS || (!to_refused && !from_refused)) return result;
  constexpr auto kMemory = AddressInfo::Kind::memory;
  ends.through_host = ends.destination.kind == kMemory && ends.source.kind == kMemory &&
                      ends.destination.gpu != ends.source.gpu && ends.destination.ordinal >= 0 &&
                      ends.source.ordinal >= 0;
  if (ends.through_host) return CUDA_SUCCESS;
  static Told told;
  return call.not_modelled(told, "a copy of which a peer without access is the only device");
}

}  // namespace symmcts::platform::abi

#pragma once

#include <cuda.h>

#include <cstddef>

#include "harness/platform/abi/call.hpp"

namespace symmcts::platform::abi {

enum class Want : std::uint8_t {
  any,     // host or device (unified addressing)
  device,  // what a device can address: device memory or pinned host memory
};

// May work of `context` touch [address, address + bytes)? Fills `info`. INVALID_VALUE for a null,
// unmapped, too short or inaccessible range; NOT_SUPPORTED for what would need a copy staged
// through the host (cuMemAlloc memory of a peer without cuCtxEnablePeerAccess).
CUresult check_span(const Call& call, Context& context, CUdeviceptr address, std::size_t bytes,
                    Want want, AddressInfo& info);

}  // namespace symmcts::platform::abi

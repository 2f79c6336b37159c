#pragma once

#include <cuda.h>

#include <cstddef>

#include "harness/platform/abi/call.hpp"

namespace symmcts::platform::abi {

enum class Want : std::uint8_t {
  any,     // host or device (unified addressing)
  device,  // what a device can address: device memory or pinned host memory
};

// May work of `context` so touch [address, address + bytes)? Fills `info`. INVALID_VALUE for a
// null, unmapped, too short or inaccessible range, also for cuMemAlloc memory of a peer without
// cuCtxEnablePeerAccess (measured for a fill, fixtures/oracles/h200-x2/error-table.txt).
CUresult check_span(const Call& call, Context& context, CUdeviceptr address, std::size_t bytes,
                    Want want, Touch touch, AddressInfo& info);

// The two ends of a copy.
struct CopyEnds {
  AddressInfo destination, source;
  // The ends lie on two devices of which one may not address the other's end, so that each device
  // moves its own end from or to the host's memory (measured, hardware/h200-x2/copy-records.txt;
  // for memory of cuMemCreate, where no access was granted, inferred).
  bool through_host = false;
};

// May a copy on a stream of `context` read the one range and write the other? Codes as for
// check_span; NOT_SUPPORTED where a peer without access is one end and its own or the host's memory
// is the other.
CUresult check_copy(const Call& call, Context& context, CUdeviceptr destination,
                    Want destination_want, CUdeviceptr source, Want source_want, std::size_t bytes,
                    CopyEnds& ends);

}  // namespace symmcts::platform::abi

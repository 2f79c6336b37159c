#pragma once

#include <cuda.h>

#include <string>

#include "harness/platform/abi/tests/open_platform.hpp"

namespace symmcts::bench {

// clang-format 14 finds no end with such a list.
// clang-format off
#define SYMMCTS_BENCH_FUNCTIONS(X)                                                                 \
  X(cuInit) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuMemAlloc) X(cuMemFree)              \
  X(cuMemcpyDtoDAsync) X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize)                 \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap)            \
  X(cuMemUnmap) X(cuMemSetAccess) X(cuMemExportToShareableHandle)                                  \
  X(cuMemImportFromShareableHandle)
// clang-format on

// The software platform's driver and no other: ends the process with exit code 3, before any call,
// where `path` is something else.
struct Driver {
  explicit Driver(const char* path);
#define SYMMCTS_BENCH_MEMBER(name) decltype(&::name) name = nullptr;
  SYMMCTS_BENCH_FUNCTIONS(SYMMCTS_BENCH_MEMBER)
#undef SYMMCTS_BENCH_MEMBER
};

// Ends the process with exit code 3 and one line where a call has failed.
void need(CUresult code, const char* call);

// 2 MiB on `device`, and its mapping at `at` for `device`.
CUmemGenericAllocationHandle create(const Driver& cu, int device, CUmemAllocationHandleType type);
void map(const Driver& cu, CUdeviceptr at, CUmemGenericAllocationHandle handle, int device);

// Microseconds in which `ranks` processes on one gb200-nvl72 each make memory, share it by FABRIC
// handles, and map that of all others; the median of some rounds. Negative if a rank has failed.
// Blocks until they and their machine have ended. Precondition: no driver in this process.
double exchange_time(const std::string& library, int ranks);

}  // namespace symmcts::bench

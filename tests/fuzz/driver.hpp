#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

// The functions that the fuzzer calls, by the names of cuda.h: its macros turn each into the newest
// version, here and in the calls.
// clang-format 14 finds no end with such a list.
// clang-format off
#define SYMMCTS_FUZZ_FUNCTIONS(X)                                                                  \
  X(cuInit) X(cuDeviceGetCount) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain)                \
  X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxGetState) X(cuCtxSetCurrent)                    \
  X(cuCtxGetCurrent) X(cuCtxGetDevice) X(cuCtxPushCurrent) X(cuCtxPopCurrent)                      \
  X(cuCtxSynchronize) X(cuCtxEnablePeerAccess) X(cuCtxDisablePeerAccess) X(cuMemGetInfo)           \
  X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostRegister)               \
  X(cuMemHostUnregister) X(cuMemGetAddressRange) X(cuMemAddressReserve) X(cuMemAddressFree)        \
  X(cuMemCreate) X(cuMemRelease) X(cuMemMap) X(cuMemUnmap) X(cuMemSetAccess) X(cuMemGetAccess)     \
  X(cuMemExportToShareableHandle) X(cuMemImportFromShareableHandle)                                \
  X(cuMemRetainAllocationHandle) X(cuMemGetAllocationPropertiesFromHandle)                         \
  X(cuMemGetAllocationGranularity) X(cuMulticastCreate) X(cuMulticastAddDevice)                    \
  X(cuMulticastBindMem) X(cuMulticastBindAddr) X(cuMulticastUnbind) X(cuMulticastGetGranularity)   \
  X(cuPointerGetAttribute) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyHtoDAsync)    \
  X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemsetD8) X(cuMemsetD8Async) X(cuMemsetD32)        \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery)                     \
  X(cuStreamWaitEvent) X(cuStreamWriteValue32) X(cuStreamWriteValue64) X(cuStreamWaitValue32)      \
  X(cuStreamWaitValue64) X(cuStreamBatchMemOp) X(cuEventCreate) X(cuEventDestroy)                  \
  X(cuEventRecord) X(cuEventQuery) X(cuEventSynchronize) X(cuEventElapsedTime)                     \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing)                             \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)
// clang-format on

namespace symmcts::fuzz {

// The software platform's driver, and no other: opened by an absolute path, and used only if the
// object that holds cuMulticastCreate carries the platform's marker. What the fuzzer does would
// put a real machine out of service.
struct Driver {
#define SYMMCTS_FUZZ_MEMBER(name) decltype(&::name) name = nullptr;
  SYMMCTS_FUZZ_FUNCTIONS(SYMMCTS_FUZZ_MEMBER)
#undef SYMMCTS_FUZZ_MEMBER

  // What the platform offers beside the driver's interface (symmcts_platform.h).
  void (*managed)() = nullptr;
  std::uint64_t (*message_out)(int) = nullptr;
  int (*wait_begin)(std::uint64_t) = nullptr;
  int (*wait_end)(const std::uint64_t*, std::size_t) = nullptr;
};

// Opens the platform at `path`. Ends the process with exit code 3 and one line, before any call,
// where that is a relative path, not the platform, or lacks a function.
const Driver& open_driver(const char* path);

}  // namespace symmcts::fuzz

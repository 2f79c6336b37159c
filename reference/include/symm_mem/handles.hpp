#pragma once

#include <cuda.h>

#include <cstddef>
#include <utility>

#include "symm_mem/descriptor.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// How this process came by a handle. The driver picks the copy path of a multicast mapping by it:
// a native one may be served as a local copy by the engines of host transfers (pytorch#192530).
enum class Provenance { native, imported };

// One reference to physical memory or to a multicast object: each create and each import is one,
// and needs one release (SM-LIFE-5, cuda.h:cuMemRelease; flagos#469: one that was released twice).
// What fails half-way is given back by the destructors (SM-LEAK-1, SM-LEAK-2). Moves, never copies.
// The destructor releases and keeps quiet; release() says how it went.
class PhysicalHandle {
 public:
  PhysicalHandle() = default;
  PhysicalHandle(CUmemGenericAllocationHandle value, Provenance provenance)
      : value_(value), provenance_(provenance), held_(true) {}
  PhysicalHandle(PhysicalHandle&& other) noexcept { *this = std::move(other); }
  PhysicalHandle& operator=(PhysicalHandle&& other) noexcept;
  ~PhysicalHandle() { (void)release(Phase::teardown); }

  bool held() const { return held_; }
  CUmemGenericAllocationHandle value() const { return value_; }
  Provenance provenance() const { return provenance_; }
  // Gives the reference back; nothing happens when none is held. Does not block.
  Status release(Phase phase);
  // Leaves the reference where it is, until the process ends.
  void abandon() { held_ = false; }

 private:
  CUmemGenericAllocationHandle value_ = 0;
  Provenance provenance_ = Provenance::native;
  bool held_ = false;
};

// Reserved address space with one physical handle mapped over all of it. Undoes what was done, in
// the order unmap, free: a range that is still mapped cannot be freed (measured: INVALID_VALUE).
class MappedRange {
 public:
  MappedRange() = default;
  MappedRange(MappedRange&& other) noexcept { *this = std::move(other); }
  MappedRange& operator=(MappedRange&& other) noexcept;
  ~MappedRange() { (void)close(Phase::teardown); }

  // Reserves `bytes` aligned to `alignment`, maps `handle` over it at offset 0 (the only one that
  // the driver takes) and lets `device` read and write. Mapping a multicast object blocks until
  // every device has been added to it (cuda.h:cuMulticastAddDevice). `bytes` is the handle's whole
  // size. On failure nothing is left behind.
  static Result<MappedRange> map(const PhysicalHandle& handle, std::size_t bytes,
                                 std::size_t alignment, CUdevice device, Phase phase);

  CUdeviceptr address() const { return address_; }
  // Unmaps and frees; goes on past an error and returns the first one. The driver synchronizes.
  Status close(Phase phase);
  // Leaves the mapping where it is, until the process ends.
  void abandon() { bytes_ = 0, mapped_ = false; }

 private:
  CUdeviceptr address_ = 0;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
};

// One device's memory bound into a multicast object, from offset 0 of both.
class Binding {
 public:
  Binding() = default;
  Binding(Binding&& other) noexcept { *this = std::move(other); }
  Binding& operator=(Binding&& other) noexcept;
  ~Binding() { (void)close(Phase::teardown); }

  // Blocks until every device has been added to `object`, without a timeout of its own: call it
  // only after all ranks have agreed that they are. Both handles must outlive the binding. `bytes`
  // is a multiple of both granularities.
  static Result<Binding> bind(const PhysicalHandle& object, CUdevice device,
                              const PhysicalHandle& memory, std::size_t bytes);

  bool bound() const { return bytes_ != 0; }
  // Unbinds exactly the range that was bound: anything else is undefined
  // (cuda.h:cuMulticastUnbind).
  Status close(Phase phase);
  // Leaves the binding where it is, until the process ends.
  void abandon() { bytes_ = 0; }

 private:
  CUmemGenericAllocationHandle object_ = 0;
  CUdevice device_ = 0;
  std::size_t bytes_ = 0;
};

// Makes `context` current for a scope and restores what the caller had (SM-DEV-4).
class ContextScope {
 public:
  explicit ContextScope(CUcontext context, Phase phase = Phase::use)
      : status_(check(cuCtxPushCurrent(context), "cuCtxPushCurrent", phase)) {}
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (status_) (void)cuCtxPopCurrent(&popped);
  }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Lets this thread make, for a scope, calls that a stream capture anywhere in the process would
// refuse and be broken by, such as waiting for a stream of one's own. Measured on H200: with it the
// captures of a program survive the set-up of a block, without it none does (pytorch#198140).
class CaptureTolerance {
 public:
  CaptureTolerance() { (void)cuThreadExchangeStreamCaptureMode(&mode_); }
  CaptureTolerance(const CaptureTolerance&) = delete;
  CaptureTolerance& operator=(const CaptureTolerance&) = delete;
  ~CaptureTolerance() { (void)cuThreadExchangeStreamCaptureMode(&mode_); }

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace symm_mem

#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "tests/bench/pair.hpp"

namespace symmcts::bench {

// Behind the two parts of a replica: a word for each rank, which its peer writes.
constexpr std::size_t kWordBytes = 256;

// An all-gather of two ranks with nothing but driver calls: barrier, push beside a local copy on a
// second stream, barrier. As it was measured on H200 (hardware/h200-x2/stream-memory-ops.txt).
class BareAllGather {
 public:
  // `mine`, `theirs`: the replicas, of two parts of `bytes` and the words behind them.
  BareAllGather(int rank, CUdeviceptr mine, CUdeviceptr theirs, std::size_t bytes)
      : rank_(static_cast<std::size_t>(rank)), mine_(mine), theirs_(theirs), bytes_(bytes) {
    need(cuStreamCreate(&side_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUevent* event : {&begun_, &copied_})
      need(cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    need(cuMemsetD8(mine_ + 2 * bytes_, 0, kWordBytes), "cuMemsetD8");
    need(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  ~BareAllGather() {
    for (CUevent event : {begun_, copied_}) cuEventDestroy(event);
    cuStreamDestroy(side_);
  }
  BareAllGather(const BareAllGather&) = delete;
  BareAllGather& operator=(const BareAllGather&) = delete;

  void enqueue(CUdeviceptr source, CUstream stream) {
    barrier(stream);
    need(cuEventRecord(begun_, stream), "cuEventRecord");
    need(cuStreamWaitEvent(side_, begun_, 0), "cuStreamWaitEvent");
    need(cuMemcpyDtoDAsync(mine_ + rank_ * bytes_, source, bytes_, side_), "cuMemcpyDtoDAsync");
    need(cuEventRecord(copied_, side_), "cuEventRecord");
    need(cuMemcpyDtoDAsync(theirs_ + rank_ * bytes_, source, bytes_, stream), "cuMemcpyDtoDAsync");
    need(cuStreamWaitEvent(stream, copied_, 0), "cuStreamWaitEvent");
    barrier(stream);
  }

 private:
  void barrier(CUstream stream) {
    ++number_;
    need(cuStreamWriteValue32(stream, theirs_ + 2 * bytes_, number_, CU_STREAM_WRITE_VALUE_DEFAULT),
         "cuStreamWriteValue32");
    need(cuStreamWaitValue32(stream, mine_ + 2 * bytes_, number_, CU_STREAM_WAIT_VALUE_GEQ),
         "cuStreamWaitValue32");
  }

  const std::size_t rank_;
  const CUdeviceptr mine_, theirs_;
  const std::size_t bytes_;
  CUstream side_ = nullptr;
  CUevent begun_ = nullptr, copied_ = nullptr;
  std::uint32_t number_ = 0;
};

}  // namespace symmcts::bench

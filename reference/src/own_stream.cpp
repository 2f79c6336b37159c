#include "own_stream.hpp"

#include "polling.hpp"

namespace symm_mem {

OwnStream::~OwnStream() {
  if (stream_ != nullptr) (void)cuStreamDestroy(stream_);
}

Status OwnStream::open() {
  return check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate", phase_);
}

Status OwnStream::finish(Agreement& agreement) {
  const CUresult code =
      poll(agreement, agreement.deadline(), [this] { return cuStreamQuery(stream_); });
  if (code != CUDA_ERROR_NOT_READY) return check(code, "cuStreamQuery", phase_);
  return Error{.call = "cuStreamQuery", .code = code, .phase = phase_, .text = "work does not end"};
}

}  // namespace symm_mem

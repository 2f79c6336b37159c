// ROCm/hcc#643 (copies that missed the wait for the signal they depended on), in the shape of every
// collective that copies on a stream of its own: the copy starts behind the caller's stream, as it
// should, but nothing makes the caller's stream wait for the copy before it signals. A peer is told
// that the bytes are there while they are still on their way. SM-DATA-3 must catch it.
#include "conformance/defects/defects.hpp"

namespace symmcts::defects {

using symm_mem::Path;
using symm_mem::Phase;
using symm_mem::Status;

namespace {

// A stream for one copy, behind all that is enqueued on `caller` by now.
struct SideStream {
  CUstream stream = nullptr;
  CUevent begin = nullptr;

  Status open(CUstream caller) {
    Status status = symm_mem::check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
                                    "cuStreamCreate", Phase::use);
    if (status) {
      status = symm_mem::check(cuEventCreate(&begin, CU_EVENT_DISABLE_TIMING), "cuEventCreate",
                               Phase::use);
    }
    if (status) {
      status = symm_mem::check(cuEventRecord(begin, caller), "cuEventRecord", Phase::use);
    }
    if (status) {
      status =
          symm_mem::check(cuStreamWaitEvent(stream, begin, 0), "cuStreamWaitEvent", Phase::use);
    }
    return status;
  }
  // What is enqueued runs on.
  ~SideStream() {
    if (begin != nullptr) cuEventDestroy(begin);
    if (stream != nullptr) cuStreamDestroy(stream);
  }
};

}  // namespace

Status missing_event_wait(symm_mem::Block& block, CUdeviceptr source, std::size_t bytes_per_rank,
                          int member, CUstream stream) {
  Status status = block.barrier(stream);
  if (!status) return status;
  SideStream side;
  status = side.open(stream);
  if (!status) return status;
  const std::size_t offset = bytes_per_rank * static_cast<std::size_t>(member);
  status = block.write_multicast(offset, source, bytes_per_rank, side.stream);
  if (!status) return status;
  return block.barrier(stream);  // the defect: nothing made `stream` wait for the copy
}

}  // namespace symmcts::defects

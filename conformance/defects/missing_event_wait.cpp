// ROCm/hcc#643 (copies that missed the wait for the signal they depended on), in the shape of every
// collective that copies on a stream of its own: the copy starts behind the caller's stream, as it
// should, but nothing makes the caller's stream wait for the copy before it signals. A peer is told
// that the bytes are there while they are still on their way. SM-DATA-3 must catch it.
#include "conformance/defects/defects.hpp"
#include "symm_mem/lanes.hpp"

namespace symmcts::defects {

using symm_mem::Status;

Status missing_event_wait(symm_mem::Block& block, CUdeviceptr source, std::size_t bytes_per_rank,
                          int member, CUstream stream) {
  Status status = block.barrier(stream);
  symm_mem::Lanes lanes;
  if (status) status = lanes.open(1);
  if (status) status = lanes.fork(stream);
  if (!status) return status;
  const symm_mem::Result<CUstream> lane = lanes.use(0);
  if (!lane) return lane.status();
  const std::size_t offset = bytes_per_rank * static_cast<std::size_t>(member);
  status = block.write_multicast(offset, source, bytes_per_rank, lane.value());
  return status ? block.barrier(stream) : status;  // the defect: no lanes.join(stream) before it
}

}  // namespace symmcts::defects

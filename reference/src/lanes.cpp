#include "symm_mem/lanes.hpp"

#include <algorithm>
#include <utility>

namespace symm_mem {

Status Lanes::open(int count) {
  Status status;
  const auto event = [&status](CUevent& made) {
    if (!status) return;
    status = check(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING), "cuEventCreate", Phase::allocate);
  };
  event(forked_);
  for (int i = 0; i < std::min(count, kMost) && status; ++i) {
    Lane& lane = lanes_.emplace_back();
    // Non-blocking: the default stream must not hold it up.
    status = check(cuStreamCreate(&lane.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
                   Phase::allocate);
    event(lane.done);
  }
  return status;
}

Status Lanes::fork(CUstream stream) {
  for (Lane& lane : lanes_) lane.used = false;
  return check(cuEventRecord(forked_, stream), "cuEventRecord", Phase::use);
}

Result<CUstream> Lanes::use(int index) {
  Lane& lane = lanes_[static_cast<std::size_t>(index) % lanes_.size()];
  if (!std::exchange(lane.used, true)) {
    const Status status = check(cuStreamWaitEvent(lane.stream, forked_, CU_EVENT_WAIT_DEFAULT),
                                "cuStreamWaitEvent", Phase::use);
    if (!status) return status.error();
  }
  return lane.stream;
}

Status Lanes::join(CUstream stream) {
  Status first;
  for (Lane& lane : lanes_) {
    if (!std::exchange(lane.used, false)) continue;
    keep_first(first, check(cuEventRecord(lane.done, lane.stream), "cuEventRecord", Phase::use));
    keep_first(first, check(cuStreamWaitEvent(stream, lane.done, CU_EVENT_WAIT_DEFAULT),
                            "cuStreamWaitEvent", Phase::use));
  }
  return first;
}

Status Lanes::close(Phase phase) {
  Status first;
  for (const Lane& lane : lanes_) {
    if (lane.done != nullptr) {
      keep_first(first, check(cuEventDestroy(lane.done), "cuEventDestroy", phase));
    }
    if (lane.stream != nullptr) {
      keep_first(first, check(cuStreamDestroy(lane.stream), "cuStreamDestroy", phase));
    }
  }
  lanes_.clear();
  if (forked_ != nullptr) {
    keep_first(first,
               check(cuEventDestroy(std::exchange(forked_, nullptr)), "cuEventDestroy", phase));
  }
  return first;
}

}  // namespace symm_mem

// The operations of a block that move bytes.
#include "misuse.hpp"
#include "symm_mem/block.hpp"

namespace symm_mem {
namespace {

Status copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return check(cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync", Phase::use);
}

Status set(CUdeviceptr to, std::uint8_t value, std::size_t bytes, CUstream stream) {
  return check(cuMemsetD8Async(to, value, bytes, stream), "cuMemsetD8Async", Phase::use);
}

}  // namespace

Status Block::in_bounds(const char* call, std::size_t offset, std::size_t bytes) const {
  if (offset <= this->bytes() && bytes <= this->bytes() - offset) return {};
  return misuse(call, std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                          " do not lie in a block of " + std::to_string(this->bytes()));
}

Status Block::can_take(const char* call, Path path) const {
  if (path == Path::unicast || multicast() != 0) return {};
  return misuse(call, "no multicast: " + why_no_multicast_);
}

// One write a replica, as a ring: each rank begins with the next one, so that no replica takes all
// writes at once, and each peer has a stream of its own, so that a slow one holds up no other. The
// own replica is written beside them: behind the peers' it would add its whole time (measured on
// H200: 1052 us instead of 792 us for 256 MiB).
Status Block::write_each(CUstream stream, const Write& write) {
  const int ranks = site_.agreement->group().size();
  if (ranks == 1) return write(local(), stream);
  const auto beside = [&](int lane, CUdeviceptr replica) -> Status {
    const Result<CUstream> on = lanes_.use(lane);
    return on ? write(replica, on.value()) : on.status();
  };
  Status status = lanes_.fork(stream);
  if (status) status = write(peer((me_ + 1) % ranks), stream);
  if (status) status = beside(0, local());
  for (int step = 2; step < ranks && status; ++step) {
    status = beside(1 + (step - 2) % (lanes_.count() - 1), peer((me_ + step) % ranks));
  }
  keep_first(status, lanes_.join(stream));
  return status;
}

Status Block::write_all(std::size_t offset, CUdeviceptr source, std::size_t bytes, Path path,
                        CUstream stream) {
  if (path == Path::multicast) return copy(multicast() + offset, source, bytes, stream);
  return write_each(stream, [&](CUdeviceptr replica, CUstream on) {
    return copy(replica + offset, source, bytes, on);
  });
}

Status Block::write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                              CUstream stream) {
  Status status = can_take("write_multicast", Path::multicast);
  if (status) status = in_bounds("write_multicast", offset, bytes);
  if (!status || bytes == 0) return status;
  return enqueue(stream,
                 [&](bool) { return write_all(offset, source, bytes, Path::multicast, stream); });
}

Status Block::fill(std::size_t offset, std::uint8_t value, std::size_t bytes, Path path,
                   CUstream stream) {
  Status status = can_take("fill", path);
  if (status) status = in_bounds("fill", offset, bytes);
  if (!status || bytes == 0) return status;
  return enqueue(stream, [&](bool) {
    if (path == Path::multicast) return set(multicast() + offset, value, bytes, stream);
    return write_each(stream, [&](CUdeviceptr replica, CUstream on) {
      return set(replica + offset, value, bytes, on);
    });
  });
}

Status Block::all_gather(CUdeviceptr source, std::size_t bytes_per_rank, Path path,
                         CUstream stream) {
  const auto ranks = static_cast<std::size_t>(site_.agreement->group().size());
  const Status possible = can_take("all_gather", path);
  if (!possible) return possible;
  if (bytes_per_rank > bytes() / ranks) {
    return misuse("all_gather", std::to_string(ranks) + " times " + std::to_string(bytes_per_rank) +
                                    " bytes do not fit in a block of " + std::to_string(bytes()));
  }
  if (bytes_per_rank == 0) return {};
  const std::size_t offset = bytes_per_rank * static_cast<std::size_t>(me_);
  return enqueue(stream, [&](bool captured) {
    // SM-DATA-2: nobody writes before all ranks have finished what they did with the block so far.
    Status status = enter(stream, 0, captured);
    if (status) status = write_all(offset, source, bytes_per_rank, path, stream);
    return status ? leave(stream, 0, captured) : status;
  });
}

Status Block::broadcast(int root, std::size_t offset, CUdeviceptr source, std::size_t bytes,
                        Path path, CUstream stream) {
  Status possible = can_take("broadcast", path);
  if (possible) possible = is_member("broadcast", root);
  if (possible) possible = in_bounds("broadcast", offset, bytes);
  if (!possible || bytes == 0) return possible;
  return enqueue(stream, [&](bool captured) {
    Status status = enter(stream, 0, captured);
    if (status && me_ == root) status = write_all(offset, source, bytes, path, stream);
    return status ? leave(stream, 0, captured) : status;
  });
}

}  // namespace symm_mem

// The operations of a block: what runs on streams.
#include <limits>

#include "symm_mem/block.hpp"

namespace symm_mem {
namespace {

Error misuse(const char* call, std::string text) {
  return {.call = call, .phase = Phase::use, .text = std::move(text)};
}

bool is_channel(int channel) { return channel >= 0 && channel < kChannels; }

// The write is ordered after all earlier work of the stream, memory included: that is the default
// of cuStreamWriteValue32.
Status write_word(CUstream stream, CUdeviceptr word, std::uint32_t value) {
  return check(cuStreamWriteValue32(stream, word, value, CU_STREAM_WRITE_VALUE_DEFAULT),
               "cuStreamWriteValue32", Phase::use);
}

// GEQ compares cyclically, so a counter may wrap and a peer may be ahead.
Status wait_word(CUstream stream, CUdeviceptr word, std::uint32_t value) {
  return check(cuStreamWaitValue32(stream, word, value, CU_STREAM_WAIT_VALUE_GEQ),
               "cuStreamWaitValue32", Phase::use);
}

}  // namespace

Status Block::in_bounds(const char* call, std::size_t offset, std::size_t bytes) const {
  if (offset <= this->bytes() && bytes <= this->bytes() - offset) return {};
  return misuse(call, std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                          " do not lie in a block of " + std::to_string(this->bytes()));
}

Status Block::copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return check(cuMemcpyAsync(to, from, bytes, stream), "cuMemcpyAsync", Phase::use);
}

Status Block::write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                              CUstream stream) {
  if (multicast() == 0) return misuse("write_multicast", "no multicast: " + why_no_multicast_);
  Status status = in_bounds("write_multicast", offset, bytes);
  if (!status || bytes == 0) return status;
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();
  return copy(multicast() + offset, source, bytes, stream);
}

Status Block::all_gather(CUdeviceptr source, std::size_t bytes_per_rank, Path path,
                         CUstream stream) {
  const int ranks = site_.agreement->group().size();
  if (path == Path::multicast && multicast() == 0) {
    return misuse("all_gather", "no multicast: " + why_no_multicast_);
  }
  if (bytes_per_rank > bytes() / static_cast<std::size_t>(ranks)) {
    return misuse("all_gather", std::to_string(ranks) + " times " + std::to_string(bytes_per_rank) +
                                    " bytes do not fit in a block of " + std::to_string(bytes()));
  }
  if (bytes_per_rank == 0) return {};
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();

  // Nobody writes before all ranks have finished what they did with the block so far.
  Status status = barrier(stream);
  const std::size_t offset = bytes_per_rank * static_cast<std::size_t>(me_);
  if (path == Path::multicast) {
    if (status) status = copy(multicast() + offset, source, bytes_per_rank, stream);
  } else {
    // Each rank begins with the next one, so that no replica takes all writes at once.
    for (int step = 1; step <= ranks && status; ++step) {
      status = copy(peer((me_ + step) % ranks) + offset, source, bytes_per_rank, stream);
    }
  }
  if (!status) return status;
  return barrier(stream);
}

Status Block::barrier(CUstream stream, int channel) {
  if (!is_channel(channel)) return misuse("barrier", "no channel " + std::to_string(channel));
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();

  const std::uint32_t round = ++barriers_[static_cast<std::size_t>(channel)];
  const int ranks = site_.agreement->group().size();
  Status status;
  for (int step = 1; step < ranks && status; ++step) {
    const int member = (me_ + step) % ranks;
    status = write_word(stream, unicast_.pad(member) + unicast_.layout.barrier_word(channel, me_),
                        round);
  }
  for (int step = 1; step < ranks && status; ++step) {
    const int member = (me_ + step) % ranks;
    status =
        wait_word(stream, unicast_.pad(me_) + unicast_.layout.barrier_word(channel, member), round);
  }
  return status;
}

Status Block::put_signal(int to, int channel, CUstream stream) {
  if (!is_channel(channel)) return misuse("put_signal", "no channel " + std::to_string(channel));
  if (to < 0 || to >= site_.agreement->group().size()) {
    return misuse("put_signal", "no rank " + std::to_string(to) + " in the group");
  }
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();
  const std::uint32_t count =
      ++sent_[static_cast<std::size_t>(to)][static_cast<std::size_t>(channel)];
  return write_word(stream, unicast_.pad(to) + unicast_.layout.signal_word(channel, me_), count);
}

Status Block::wait_signal(int from, int channel, CUstream stream) {
  if (!is_channel(channel)) return misuse("wait_signal", "no channel " + std::to_string(channel));
  if (from < 0 || from >= site_.agreement->group().size()) {
    return misuse("wait_signal", "no rank " + std::to_string(from) + " in the group");
  }
  const ContextScope scope(site_.context);
  if (!scope.status()) return scope.status();
  const std::uint32_t count =
      ++awaited_[static_cast<std::size_t>(from)][static_cast<std::size_t>(channel)];
  return wait_word(stream, unicast_.pad(me_) + unicast_.layout.signal_word(channel, from), count);
}

}  // namespace symm_mem

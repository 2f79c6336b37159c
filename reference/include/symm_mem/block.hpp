#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symm_mem/layout.hpp"
#include "symm_mem/multicast.hpp"
#include "symm_mem/rendezvous.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// How an operation reaches the peers.
enum class Path { unicast, multicast };

// One symmetric block: the same number of bytes on every rank of a group, which each rank can reach
// on every other, and where there is multicast on all at once. Made by Team::make_block.
//
// Operations are enqueued on the caller's stream and never wait on the host; copies are done by
// copy engines, signals by stream memory operations; there are no kernels. A call may be made with
// any context current. Source addresses are device or pinned host memory that the device can read.
// Sizes and offsets are bytes. Errors of device work show on the stream.
class Block {
 public:
  // `site` must outlive the block. For Team.
  explicit Block(const Site& site);
  // Frees what close() has not; local, quiet.
  ~Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::size_t bytes() const { return unicast_.layout.bytes; }
  CUdeviceptr local() const { return peer(me_); }
  // That group rank's replica as seen from this rank; aligned to kDataAlignment.
  CUdeviceptr peer(int member) const { return unicast_.pad(member) + unicast_.layout.data_offset; }
  // All replicas at once: only writes are defined there. 0 where there is no multicast, then
  // why_no_multicast() says why (SM-FALL-5).
  CUdeviceptr multicast() const {
    return multicast_.range.address() == 0
               ? 0
               : multicast_.range.address() + unicast_.layout.data_offset;
  }
  const std::string& why_no_multicast() const { return why_no_multicast_; }

  // Writes `bytes` at `offset` of every replica, this rank's included, with one copy.
  Status write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                         CUstream stream);

  // Collective. Each rank's `bytes_per_rank` at `source` land at group rank * bytes_per_rank of
  // every replica. Work enqueued on `stream` before the call may still read or write the block on
  // any rank: the copies begin when all ranks have come this far. Work enqueued after it sees all
  // ranks' bytes. Uses barriers of channel 0.
  Status all_gather(CUdeviceptr source, std::size_t bytes_per_rank, Path path, CUstream stream);

  // Collective. What any rank enqueued on its stream before the barrier is visible to what any rank
  // enqueues after it. Every rank calls it in the same order for a channel, [0, kChannels).
  Status barrier(CUstream stream, int channel = 0);

  // Counts one signal to the group rank `to`, after the work before it on `stream` ...
  Status put_signal(int to, int channel, CUstream stream);
  // ... and holds `stream` until one more signal of `from` has come than waited for so far.
  Status wait_signal(int from, int channel, CUstream stream);

  // Collective. Waits for this rank's device work, then for the other ranks, and frees everything
  // in order: multicast before the memory bound to it (pytorch#163750). Returns the first error;
  // frees all that can be freed in any case. May be called once.
  Status close();

 private:
  friend class Team;
  // Collective: everything up to the barrier after which peers may write.
  Status establish(std::size_t bytes, MulticastOrder order);

  Status in_bounds(const char* call, std::size_t offset, std::size_t bytes) const;
  Status copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream);

  const Site& site_;
  int me_;
  Unicast unicast_;
  Multicast multicast_;
  std::string why_no_multicast_;
  std::array<std::uint32_t, kChannels> barriers_{};         // barriers so far
  std::vector<std::array<std::uint32_t, kChannels>> sent_;  // signals so far, by group rank
  std::vector<std::array<std::uint32_t, kChannels>> awaited_;
};

}  // namespace symm_mem

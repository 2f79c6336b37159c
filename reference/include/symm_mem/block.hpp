#pragma once

#include <cuda.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symm_mem/lanes.hpp"
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
// copy engines, signals by stream memory operations; there are no kernels. They may be captured
// into graphs, and are right on every replay (SM-CAPT-2): a collective is captured on all ranks or
// on none, and a graph that holds one is launched as often on all. A call may be made with any
// context current. Source addresses are device or pinned host memory that the device can read, and
// lie outside of what the operation writes. Sizes and offsets are bytes, group ranks are positions
// in the group. What is not in the block, no channel, no rank or a missing multicast mapping is an
// Error, and nothing is enqueued. Errors of device work show on the stream.
class Block {
 public:
  // `site` must outlive the block. For Team.
  explicit Block(const Site& site);
  // Frees what close() has not; local, quiet, and it waits for device work as the driver does.
  ~Block();
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

  // Writes `bytes` at `offset` of every replica, this rank's included, with one copy (SM-DATA-1).
  Status write_multicast(std::size_t offset, CUdeviceptr source, std::size_t bytes,
                         CUstream stream);

  // Sets `bytes` bytes at `offset` of every replica to `value`: one memset of the multicast
  // address (used so in public tests, facts A12.13), or one of each replica.
  Status fill(std::size_t offset, std::uint8_t value, std::size_t bytes, Path path,
              CUstream stream);

  // Collective. Each rank's `bytes_per_rank` at `source` land at group rank * bytes_per_rank of
  // every replica. Work enqueued on `stream` before the call may still read or write the block on
  // any rank: the copies begin when all ranks have come this far. Work enqueued after it sees all
  // ranks' bytes (SM-DATA-2, SM-DATA-3). Uses channel 0.
  Status all_gather(CUdeviceptr source, std::size_t bytes_per_rank, Path path, CUstream stream);

  // Collective, ordered like all_gather. The `bytes` at `source` of the group rank `root` land at
  // `offset` of every replica; the others' `source` is not looked at. Uses channel 0.
  Status broadcast(int root, std::size_t offset, CUdeviceptr source, std::size_t bytes, Path path,
                   CUstream stream);

  // Collective. What any rank enqueued on its stream before the barrier is visible to what any rank
  // enqueues after it (SM-SIG-2). Every rank calls it in the same order for a channel,
  // [0, kChannels).
  Status barrier(CUstream stream, int channel = 0);

  // Counts one signal to the group rank `to`, after the work before it on `stream` ...
  Status put_signal(int to, int channel, CUstream stream);
  // ... and holds `stream` until one more signal of `from` has come than waited for so far.
  // Captured signals are apart from the others and are not counted: at most one is on its way from
  // one rank to another in a channel, and a put holds its stream until the one before was waited
  // for.
  Status wait_signal(int from, int channel, CUstream stream);

  // Blocks the host until the work on `stream` so far has ended, at most `deadline`. After that an
  // Error whose `rank` and text name the ranks that have not come to the barrier or sent the signal
  // that this rank waits for (SM-SIG-4, pytorch#137643); the work stays enqueued. Local. `stream`
  // is not being captured.
  Status wait(CUstream stream, std::chrono::nanoseconds deadline);

  // Collective. Waits for this rank's operations, at most the team's deadline, then for the other
  // ranks, and frees everything in order: multicast before the memory bound to it (SM-TEAR-1,
  // pytorch#163750). Returns the first error; frees all that can be freed in any case. Where a
  // peer that is gone leaves a stream waiting, the Error names it as wait() does, and the waits of
  // this rank are let go so that the device comes to rest: what later work finds in the block is
  // undefined then. If the device works on all the same, the memory stays allocated until the
  // process ends, and the Error says so. Graphs that hold operations of the block have ended: only
  // the driver waits for those, at the unmap, and it has no deadline. May be called once.
  Status close();

 private:
  friend class Team;
  using Write = std::function<Status(CUdeviceptr replica, CUstream stream)>;

  // Collective: everything up to the barrier after which peers may write. With a failure in
  // `ready`, makes no driver call, and all ranks return it.
  Status establish(std::size_t bytes, MulticastOrder order, const RetryPolicy& retry, Status ready);

  // uses.cpp
  // Does `work` with the context current, tells it whether the stream is being captured, and keeps
  // an event behind it.
  Status enqueue(CUstream stream, const std::function<Status(bool captured)>& work);
  Status note_use(CUstream stream);
  CUresult ask_uses() const;
  void forget_uses();

  // operations.cpp
  Status in_bounds(const char* call, std::size_t offset, std::size_t bytes) const;
  Status can_take(const char* call, Path path) const;
  Status write_each(CUstream stream, const Write& write);
  Status write_all(std::size_t offset, CUdeviceptr source, std::size_t bytes, Path path,
                   CUstream stream);

  // signals.cpp
  CUdeviceptr word(int owner, Word kind, int channel, int source) const {
    return unicast_.pad(owner) + unicast_.layout.word(kind, channel, source);
  }
  Status is_member(const char* call, int member) const;
  Status enter(CUstream stream, int channel, bool captured);
  Status leave(CUstream stream, int channel, bool captured);
  Status count_in(CUstream stream, int channel);
  Status meet(CUstream stream, int channel, Word kind);

  // waiting.cpp
  // A word that this rank's device work waits for outside of captures, and what its source has not
  // done while it holds less.
  struct Awaited {
    CUdeviceptr address = 0;
    std::uint32_t value = 0;
    int from = 0;  // group rank
    std::string lacks;
  };
  std::vector<Awaited> awaited_words() const;
  Status read_words(const std::vector<Awaited>& words, std::vector<std::uint32_t>& values);
  Error late(const char* call, Phase phase, const std::string& what);
  Status let_go();
  Status come_to_rest();

  // The last operation on a stream outside of captures. The stream itself may be gone.
  struct Use {
    CUstream stream = nullptr;
    CUevent last = nullptr;
  };

  const Site& site_;
  int me_;
  Unicast unicast_;
  Multicast multicast_;
  Lanes lanes_;
  std::string why_no_multicast_;
  std::vector<Use> uses_;
  bool at_rest_ = true;                              // the device works on nothing of this block
  bool captured_ever_ = false;                       // some graph may hold operations of this block
  std::array<std::uint32_t, kChannels> barriers_{};  // barriers so far
  std::vector<std::array<std::uint32_t, kChannels>> sent_;  // signals so far, by group rank
  std::vector<std::array<std::uint32_t, kChannels>> awaited_;
};

}  // namespace symm_mem

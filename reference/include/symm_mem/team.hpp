#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/block.hpp"
#include "symm_mem/capability.hpp"
#include "symm_mem/exchange.hpp"
#include "symm_mem/multicast.hpp"
#include "symm_mem/rendezvous.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

struct TeamOptions {
  CUdevice device = 0;
  CUcontext context = nullptr;  // of `device`; made current only within calls
  std::uint32_t group = 0;      // the same on all members
  std::vector<int> members;     // exchange ranks in group order; empty: all
  int root = 0;                 // group rank
  MulticastPermit permit = MulticastPermit::never;
  std::uint32_t allowed_routes = ~0u;                            // bits of Route
  std::chrono::nanoseconds deadline = std::chrono::seconds(30);  // of each wait for a peer
  RetryPolicy retry{};                                           // of multicast; the root's counts
  // Set-up while this stream is being captured is refused on all ranks; null stands for the legacy
  // stream, which shows the captures of all blocking streams of the context.
  CUstream stream = nullptr;
  std::function<void(std::string_view)> on_phase;  // told of each phase before it starts
  MulticastOrder multicast_order = establish_multicast;
};

// A group of ranks, one device each, that has agreed on how it shares memory. Teams may be opened
// and closed any number of times in a process: nothing outlives them (SM-TEAR-5, nvshmem#52), and
// nothing is found again but by the exchange. Not thread safe.
class Team {
 public:
  // Collective over the members. Initializes nothing: cuInit has been called. The exchange is not
  // owned and outlives the team. Blocks until every member has answered, at most the deadline a
  // wait. Errors, the same on every rank: a probe that failed on any rank, two ranks on one device
  // (SM-DEV-2), no route on which every rank reaches the others (SM-FALL-4), a rank that is gone or
  // late, named (SM-AGRE-8), a stream that is being captured (SM-CAPT-1). After an error nothing is
  // left.
  static Result<std::unique_ptr<Team>> open(Exchange& exchange, TeamOptions options);

  const Group& group() const { return agreement_.group(); }
  const Terms& terms() const { return site_.terms; }

  // Collective: a block of `bytes` bytes, at least 1, on every rank. Where multicast fails on any
  // rank the block comes without it on all of them; an Error, the same on all, means that there is
  // no block on any rank and that nothing is left of it. The team outlives the block. Blocks like
  // open(). While TeamOptions::stream is being captured it is refused, before any driver call that
  // changes anything (SM-CAPT-1, pytorch#198140).
  Result<std::unique_ptr<Block>> make_block(std::size_t bytes);

  // Collective: returns when every member has come this far. All blocks have been closed.
  Status close();

 private:
  Team(Exchange& exchange, Group group, TeamOptions options);
  Status not_captured(const char* call) const;

  MulticastOrder order_;
  RetryPolicy retry_;
  CUstream stream_;
  Agreement agreement_;
  Site site_;
};

}  // namespace symm_mem

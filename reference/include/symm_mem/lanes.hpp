#pragma once

#include <cuda.h>

#include <vector>

#include "symm_mem/result.hpp"

namespace symm_mem {

// Streams beside the caller's, for copies that need not wait for each other: they begin after what
// the caller's stream holds (fork), and the caller's stream goes on after them (join). Events alone
// join the two, so the host waits for nothing, and under stream capture the lanes take part in the
// capture. A block has lanes of its own: with those of another block in the same lane, two ranks
// that call in a different order could wait for each other for ever.
//
// The context of the block's device is current in every call.
class Lanes {
 public:
  // More lanes than this serve nobody: a GPU has fewer engines for peer copies (measured on H200:
  // one).
  static constexpr int kMost = 8;

  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes() { (void)close(Phase::teardown); }

  // Makes `count` lanes, at most kMost. Once; what a failure leaves behind goes with close(). Does
  // not block.
  Status open(int count);
  int count() const { return static_cast<int>(lanes_.size()); }

  // From here on lanes that are used begin after all earlier work of `stream`.
  Status fork(CUstream stream);
  // The lane `index` modulo count(), forked. Precondition: fork() was called, count() > 0.
  Result<CUstream> use(int index);
  // Later work of `stream` begins after all lanes used since the fork.
  Status join(CUstream stream);

  // Gives streams and events back; goes on past an error and returns the first one. Their work goes
  // on (cuda.h:cuStreamDestroy).
  Status close(Phase phase);

 private:
  struct Lane {
    CUstream stream = nullptr;
    CUevent done = nullptr;
    bool used = false;
  };
  std::vector<Lane> lanes_;
  CUevent forked_ = nullptr;
};

}  // namespace symm_mem

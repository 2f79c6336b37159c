#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/adapter/implementation.hpp"
#include "ranks.hpp"

namespace symmcts::test {

using symm_mem::test::Complaints;

// How one rank of a test is set up.
struct RankSetup {
  std::string directory{};  // holds the machine's socket
  std::string platform = "gb200-nvl2";
  std::string scenario{};  // path, or empty
  std::uint32_t handle_types = 0;
  int root = 0;
  bool permit = true;
  bool managed = true;     // virtual time through the exchange
  bool host_each = false;  // each rank on a host of its own, all with device 0; else device = rank
};

// One rank on the software platform. Ends the process with a complaint when the
// driver is not the software platform, before the first driver call.
class PlatformRank {
 public:
  PlatformRank(symm_mem::Exchange& exchange, const RankSetup& setup, Complaints& complaints);
  ~PlatformRank();
  PlatformRank(const PlatformRank&) = delete;
  PlatformRank& operator=(const PlatformRank&) = delete;

  bool started() const { return context_.context != nullptr; }
  const RankContext& context() const { return context_; }
  RankContext& context() { return context_; }
  CUstream stream() const { return stream_; }
  const std::vector<std::string>& phases() const { return phases_; }

  // Complains unless `ok`; returns it.
  bool expect(bool ok, const std::string& text);
  bool expect(const Outcome& outcome, const std::string& text);
  bool expect(CUresult code, const std::string& text);

  // Device memory that holds `bytes` bytes of a pattern of (rank, round).
  CUdeviceptr make_source(std::size_t bytes);
  void fill_source(CUdeviceptr source, std::size_t bytes, int round);
  static std::byte pattern(int rank, int round, std::size_t at);
  // Waits for the stream and reads.
  std::vector<std::byte> read(CUdeviceptr from, std::size_t bytes);

  // Five all-gathers without a pause between them, each compared on every rank.
  void all_gathers(Block& block, std::size_t bytes_per_rank, bool use_multicast);

  // True if the range was mapped from an imported handle: an imported handle shows no allowed
  // handle types, a native shareable one shows those that it was made with (measured).
  bool imported(CUdeviceptr address);
  // The rank's virtual host clock, in nanoseconds; 0 where time is not managed.
  std::uint64_t clock();
  // Complains if the implementation left a context current that the caller did not have.
  void expect_no_current_context(const std::string& after);

 private:
  class Observer;

  symm_mem::Exchange& exchange_;
  Complaints& complaints_;
  std::unique_ptr<Observer> observer_;
  RankContext context_;
  CUstream stream_ = nullptr;
  std::vector<std::string> phases_;
};

}  // namespace symmcts::test

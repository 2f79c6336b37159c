#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace symmcts::bench {

// What one of two ranks contributes to an all-gather: fresh bytes for each round, which the other
// rank can tell too.
class RandomData {
 public:
  RandomData(int rank, std::size_t bytes, std::uint64_t seed);
  ~RandomData();
  RandomData(const RandomData&) = delete;
  RandomData& operator=(const RandomData&) = delete;

  std::size_t bytes() const { return bytes_; }
  CUdeviceptr source() const { return source_; }
  // New bytes at source(), both ranks' in step.
  void draw();
  // The replica holds both ranks' bytes of this round; not `whole`: at least the peer's part.
  // Waits for the device.
  bool arrived(CUdeviceptr replica, bool whole) const;

 private:
  void fill(int rank) const;

  const int rank_;
  const std::size_t bytes_;
  const std::uint64_t seed_;
  std::uint64_t round_ = 0;
  CUdeviceptr source_ = 0;
  std::uint64_t* expected_ = nullptr;  // pinned, both parts
  std::uint64_t* found_ = nullptr;     // pinned
};

}  // namespace symmcts::bench

#include "tests/bench/random_data.hpp"

#include <cstring>

#include "tests/bench/pair.hpp"

namespace symmcts::bench {
namespace {

std::uint64_t* pinned(std::size_t bytes) {
  void* out = nullptr;
  need(cuMemHostAlloc(&out, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
  return static_cast<std::uint64_t*>(out);
}

}  // namespace

RandomData::RandomData(int rank, std::size_t bytes, std::uint64_t seed)
    : rank_(rank),
      bytes_(bytes / 8 * 8),
      seed_(seed),
      expected_(pinned(2 * bytes_)),
      found_(pinned(2 * bytes_)) {
  need(cuMemAlloc(&source_, bytes_), "cuMemAlloc");
}

RandomData::~RandomData() {
  cuMemFree(source_);
  cuMemFreeHost(expected_);
  cuMemFreeHost(found_);
}

// xorshift64*, from the seed, the round and the rank.
void RandomData::fill(int rank) const {
  std::uint64_t state =
      (seed_ * 0x9e3779b97f4a7c15U) ^ (round_ << 8) ^ static_cast<std::uint64_t>(rank + 1);
  if (state == 0) state = 1;
  std::uint64_t* part = expected_ + static_cast<std::size_t>(rank) * (bytes_ / 8);
  for (std::size_t i = 0; i < bytes_ / 8; ++i) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    part[i] = state * 0x2545f4914f6cdd1dU;
  }
}

void RandomData::draw() {
  ++round_;
  fill(0);
  fill(1);
  const std::uint64_t* own = expected_ + static_cast<std::size_t>(rank_) * (bytes_ / 8);
  need(cuMemcpyHtoD(source_, own, bytes_), "cuMemcpyHtoD");
}

bool RandomData::arrived(CUdeviceptr replica, bool whole) const {
  need(cuMemcpyDtoH(found_, replica, 2 * bytes_), "cuMemcpyDtoH");
  if (whole) return std::memcmp(found_, expected_, 2 * bytes_) == 0;
  const std::size_t theirs = static_cast<std::size_t>(1 - rank_) * (bytes_ / 8);
  return std::memcmp(found_ + theirs, expected_ + theirs, bytes_) == 0;
}

}  // namespace symmcts::bench

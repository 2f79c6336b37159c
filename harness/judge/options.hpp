#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symmcts::judge {

// Thresholds and context of a judgement. Times in nanoseconds.
struct JudgeOptions {
  // Only these ids; empty: all that the judge has rules for.
  std::vector<std::string> ids;
  // A copy that starts within this after another's end is taken to have waited for it. Measured on
  // H200 (hardware/errors-latency-sizes): 2 to 8 us between copies of one engine, 26 to 35 us
  // between DtoD copies.
  std::int64_t gap = 10'000;
  std::int64_t gap_dtod = 50'000;
  // How long a stream may take to write a memory word until a waiting stream has seen it; no record
  // shows it. Measured on H200 (hardware/stream-memory-ops): a barrier of two ranks, which is one
  // write and one wait, takes 4.4 us, as one batch 5.7 us.
  std::int64_t word_write = 5'700;
  // A suspected race is one too: where all that orders ranks is seen, as in `run`, nothing else can
  // have ordered them. False for programs whose messages are not seen.
  bool suspects_fail = true;
  // The command that shows a verdict again; copied into each.
  std::string again;
};

}  // namespace symmcts::judge

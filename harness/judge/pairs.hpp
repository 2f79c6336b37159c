#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/operations.hpp"
#include "harness/judge/options.hpp"

namespace symmcts::judge {

// How two copies of one device on different streams stood to each other (design section 5).
enum class Relation : std::uint8_t {
  apart,       // no opportunity: the later one was not ready while the earlier one ran
  overlapped,  // at least half of the shorter
  serialized,  // ready in time, less than 5 % overlap, started when the other or its chain had
               // ended
  unclear,     // partial, delayed with a cause that is not seen, or readiness not known
};

// When a copy could have started, at the latest.
struct Ready {
  evidence::Ns at = 0;
  bool after_work = false;  // because recorded work ended then, not because it was submitted
};

struct Pair {
  std::size_t first = 0;  // operation that started first (position in context.operations[rank])
  std::size_t second = 0;
  Relation relation = Relation::apart;
  evidence::Ns overlap = 0;
  evidence::Ns wait = 0;  // serialized: from the end of what it waited for to its start
};

// All pairs of timed copies of one rank that ran on one device and different streams and are not
// plainly apart. `ready`: of each operation, when it could have started (readiness.hpp).
std::vector<Pair> relate(const evidence::RankEvidence& rank,
                         const std::vector<Operation>& operations,
                         const std::vector<std::optional<Ready>>& ready,
                         const JudgeOptions& options);

}  // namespace symmcts::judge

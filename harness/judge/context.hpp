#pragma once

#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/objects.hpp"
#include "harness/judge/operations.hpp"
#include "harness/judge/options.hpp"
#include "harness/judge/pairs.hpp"
#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

// What every rule reads: the evidence, and what was derived from it once. Vectors are in the order
// of set.ranks. Holds references; lives for the duration of one judge() call.
struct Context {
  const evidence::EvidenceSet& set;
  const JudgeOptions& options;
  std::vector<RankObjects> objects;
  std::vector<std::vector<Operation>> operations;
  std::vector<std::vector<Pair>> pairs;  // of one device and different streams

  Context(const evidence::EvidenceSet& evidence, const JudgeOptions& judge_options);

  // Ranks that belong to the job and have no evidence here, from the world that files name.
  std::vector<int> missing_ranks() const;
  std::vector<int> present_ranks() const;
};

// What sets the odd ranks apart, where it fits all of them and nobody else: ", the creator of its
// group, on device ordinal 0". Empty otherwise.
std::string odd_pattern(const Context& context, const std::vector<int>& odd);

}  // namespace symmcts::judge

#include "harness/judge/context.hpp"

#include <algorithm>

#include "harness/judge/readiness.hpp"

namespace symmcts::judge {
namespace {

// The ordinal that a rank's copies ran on, else the only device it knows; -1 where neither says.
int device_of(const evidence::RankEvidence& rank) {
  if (!rank.copies.empty()) {
    return rank.copies.front().device;
  }
  return rank.header.devices.size() == 1 ? rank.header.devices.front().ordinal : -1;
}

}  // namespace

Context::Context(const evidence::EvidenceSet& evidence, const JudgeOptions& judge_options)
    : set(evidence), options(judge_options), objects(read_objects(evidence)) {
  for (std::size_t i = 0; i < set.ranks.size(); ++i) {
    operations.push_back(judge::operations(set.ranks[i], objects[i]));
  }
  const auto ready = read_readiness(set, operations, options);
  for (std::size_t i = 0; i < set.ranks.size(); ++i) {
    pairs.push_back(relate(set.ranks[i], operations[i], ready[i], options));
  }
}

std::vector<int> Context::present_ranks() const {
  std::vector<int> ranks;
  for (const evidence::RankEvidence& rank : set.ranks) {
    ranks.push_back(rank.rank());
  }
  return ranks;
}

std::vector<int> Context::missing_ranks() const {
  const std::vector<int> present = present_ranks();
  std::vector<int> missing;
  for (int rank = 0; rank < set.world; ++rank) {
    if (!std::binary_search(present.begin(), present.end(), rank)) {
      missing.push_back(rank);
    }
  }
  return missing;
}

std::string odd_pattern(const Context& context, const std::vector<int>& odd) {
  bool creators = !odd.empty();
  bool ordinal_0 = !odd.empty();
  bool others_ordinal_0 = false;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const evidence::RankEvidence& rank = context.set.ranks[i];
    if (std::find(odd.begin(), odd.end(), rank.rank()) == odd.end()) {
      others_ordinal_0 = others_ordinal_0 || device_of(rank) == 0;
      continue;
    }
    creators = creators && context.objects[i].creator;
    ordinal_0 = ordinal_0 && device_of(rank) == 0;
  }
  if (creators && ordinal_0) {
    return ", the creator of its group, on device ordinal 0";
  }
  if (creators) {
    return ", the creator of its group";
  }
  return ordinal_0 && !others_ordinal_0 ? ", alone on device ordinal 0" : "";
}

}  // namespace symmcts::judge

#include "harness/judge/summary.hpp"

namespace symmcts::judge {

std::vector<RankSummary> summarize(const Context& context) {
  std::vector<RankSummary> out;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const evidence::RankEvidence& rank = context.set.ranks[i];
    RankSummary summary;
    summary.rank = rank.rank();
    summary.host = rank.header.host;
    if (rank.header.devices.size() == 1) {
      summary.device = rank.header.devices.front().ordinal;
    }
    for (const Operation& operation : context.operations[i]) {
      if (summary.device < 0) {
        summary.device = operation.copy->device;
      }
      if (!operation.measured) {
        continue;
      }
      auto& counts = operation.signal()                             ? summary.signals
                     : evidence::is_host_copy(operation.copy->kind) ? summary.host_copies
                                                                    : summary.copies;
      counts[evidence::name(operation.copy->kind)] += operation.count;
    }
    out.push_back(std::move(summary));
  }
  return out;
}

}  // namespace symmcts::judge

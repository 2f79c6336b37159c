#include "harness/judge/readiness.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>

#include "harness/judge/stream_graph.hpp"

namespace symmcts::judge {
namespace {

using evidence::Call;
using evidence::kAbsent;
using evidence::Ns;

// Calls after which a stream may wait for something that a profiler file does not show.
bool may_make_wait(std::string_view name) {
  constexpr std::array<std::string_view, 6> kParts{"StreamWaitEvent",   "StreamWaitValue",
                                                   "StreamBatchMemOp",  "LaunchHostFunc",
                                                   "StreamAddCallback", "GraphLaunch"};
  return std::any_of(kParts.begin(), kParts.end(), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// Work of one stream in the order in which it ran.
struct Ran {
  Ns start = 0;
  Ns end = 0;
  std::int64_t corr = kAbsent;
  std::size_t operation = SIZE_MAX;  // index; none for kernels and memsets
};

// For files that show calls and records but not which stream a wait was put on: ready once
// submitted and the stream's earlier work done, unless any wait at all was put anywhere in between.
std::vector<std::optional<Ready>> from_profile(const evidence::RankEvidence& rank,
                                               const std::vector<Operation>& operations) {
  std::vector<Ns> waits;
  std::unordered_map<std::int64_t, const Call*> calls;
  for (const Call& call : rank.calls) {
    calls.emplace(call.corr, &call);
    if (may_make_wait(call.name)) {
      waits.push_back(call.t0);
    }
  }
  std::sort(waits.begin(), waits.end());
  std::map<std::pair<int, std::int64_t>, std::vector<Ran>> streams;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const evidence::Copy& copy = *operations[i].copy;
    if (copy.timed()) {
      streams[{copy.device, copy.stream}].push_back({copy.start, copy.end, copy.corr, i});
    }
  }
  for (const evidence::Work& work : rank.works) {
    streams[{work.device, work.stream}].push_back({work.start, work.end, work.corr, SIZE_MAX});
  }
  std::vector<std::optional<Ready>> ready(operations.size());
  for (auto& [stream, ran] : streams) {
    std::sort(ran.begin(), ran.end(), [](const Ran& a, const Ran& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < ran.size(); ++i) {
      if (ran[i].operation == SIZE_MAX) {
        continue;
      }
      const Operation& operation = operations[ran[i].operation];
      if (operation.call == nullptr || operation.copy->graph) {
        continue;
      }
      Ns since = INT64_MIN;
      Ready at{operation.call->t1, false};
      if (i > 0) {
        const auto call = calls.find(ran[i - 1].corr);
        since = call == calls.end() ? INT64_MIN : call->second->t0;
        if (ran[i - 1].end >= at.at) {
          at = {ran[i - 1].end, true};
        }
      }
      const auto wait = std::lower_bound(waits.begin(), waits.end(), since);
      if (wait == waits.end() || *wait > operation.call->t1) {
        at.at = std::min(at.at, operation.copy->start);
        ready[ran[i].operation] = at;
      }
    }
  }
  return ready;
}

}  // namespace

std::vector<std::vector<std::optional<Ready>>> read_readiness(
    const evidence::EvidenceSet& set, const std::vector<std::vector<Operation>>& operations,
    const JudgeOptions& options) {
  StreamGraph graph(set, options.word_write);
  std::vector<std::vector<std::optional<Ready>>> all;
  for (std::size_t i = 0; i < set.ranks.size(); ++i) {
    if (!set.ranks[i].shows.stream_waits) {
      all.push_back(from_profile(set.ranks[i], operations[i]));
      continue;
    }
    std::vector<std::optional<Ready>> ready;
    for (const Operation& operation : operations[i]) {
      ready.push_back(operation.copy->timed() ? graph.ready(i, operation.copy->corr)
                                              : std::optional<Ready>());
    }
    all.push_back(std::move(ready));
  }
  return all;
}

}  // namespace symmcts::judge

// SM-OVLP-1, SM-OVLP-2: a multicast write overlaps a concurrent pinned upload, and a download, on
// every rank. Both orders are judged: a write behind a transfer and a transfer behind a write
// (pytorch#192530: the native root's writes ran one after the other with host transfers).
#include <algorithm>

#include "harness/judge/observe.hpp"
#include "harness/judge/rules.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using evidence::Copy;
using evidence::CopyKind;
using evidence::MemoryKind;

// What one rank shows about multicast writes and one direction of pinned transfers.
struct RankOverlap {
  int overlapped = 0;
  int unclear = 0;
  std::vector<Pair> serialized;
};

bool pinned(const Copy& copy, CopyKind direction) {
  return copy.kind == direction &&
         (direction == CopyKind::htod ? copy.src_kind : copy.dst_kind) == MemoryKind::pinned;
}

bool is_write(const Operation& operation) {
  return operation.measured && operation.target == Target::multicast && !operation.signal();
}

RankOverlap collect(const std::vector<Operation>& operations, const std::vector<Pair>& pairs,
                    CopyKind direction) {
  RankOverlap out;
  for (const Pair& pair : pairs) {
    const Operation& first = operations[pair.first];
    const Operation& second = operations[pair.second];
    const bool judged = (is_write(first) && pinned(*second.copy, direction)) ||
                        (is_write(second) && pinned(*first.copy, direction));
    if (!judged) {
      continue;
    }
    if (pair.relation == Relation::overlapped) {
      ++out.overlapped;
    } else if (pair.relation == Relation::serialized) {
      out.serialized.push_back(pair);
    } else {
      ++out.unclear;
    }
  }
  return out;
}

std::string serialized_text(const std::vector<Operation>& operations, const RankOverlap& rank,
                            CopyKind direction) {
  const std::string host = evidence::name(direction);
  std::int64_t writes = 0;
  for (const Pair& pair : rank.serialized) {
    writes += is_write(operations[pair.second]) ? 1 : 0;
  }
  const auto others = static_cast<std::int64_t>(rank.serialized.size()) - writes;
  std::vector<std::string> parts;
  if (writes > 0) {
    parts.push_back(count_text(writes, "multicast write") + " serialized behind " + host);
  }
  if (others > 0) {
    parts.push_back(count_text(others, host) + " serialized behind multicast writes");
  }
  if (rank.overlapped > 0) {
    parts.push_back(std::to_string(rank.overlapped) + " overlapped");
  }
  return join(parts, ", ");
}

Verdict overlap(const Context& context, const char* id, CopyKind direction) {
  Verdict verdict = unknown_verdict(id);
  const std::string host = evidence::name(direction);
  std::vector<int> serialized;
  std::vector<int> overlapped;
  std::vector<int> unclear = context.missing_ranks();
  bool hidden = false;
  bool partial = false;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const int number = context.set.ranks[i].rank();
    hidden = hidden || !context.set.ranks[i].shows.targets;
    const RankOverlap rank = collect(context.operations[i], context.pairs[i], direction);
    partial = partial || rank.unclear > 0;
    const std::string key = "rank " + std::to_string(number);
    if (!rank.serialized.empty()) {
      serialized.push_back(number);
      verdict.seen.emplace_back(key, serialized_text(context.operations[i], rank, direction));
    } else if (rank.overlapped > 0) {
      overlapped.push_back(number);
      verdict.seen.emplace_back(key, count_text(rank.overlapped, "pair") + " overlapped, " +
                                         std::to_string(rank.unclear) + " unclear");
    } else {
      unclear.push_back(number);
    }
  }
  std::sort(unclear.begin(), unclear.end());
  if (!serialized.empty()) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = serialized;
    verdict.reason = "multicast writes and pinned " + host +
                     " transfers run one after the other on " + ranks_text(serialized) +
                     odd_pattern(context, serialized) +
                     (overlapped.empty() ? "" : "; they overlap on " + ranks_text(overlapped));
  } else if (hidden) {
    for (const Observation& observation : observe(context)) {
      if (observation.text.find(host) != std::string::npos) {
        const std::size_t colon = observation.text.find(": ");
        verdict.seen.emplace_back(observation.text.substr(0, colon),
                                  observation.text.substr(colon + 2));
      }
    }
    verdict.reason =
        "the source does not show which copies are multicast writes; what it shows of "
        "overlap is reported, not judged";
  } else if (!unclear.empty()) {
    verdict.ranks = unclear;
    verdict.reason = std::string(partial ? "only partial overlap or delays of unseen cause"
                                         : "no opportunity to overlap") +
                     " between a multicast write and a pinned " + host + " on " +
                     ranks_text(unclear);
  } else if (overlapped.empty()) {
    verdict.reason = "no evidence of any rank";
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = overlapped;
    verdict.reason = "multicast writes overlap pinned " + host + " on " + ranks_text(overlapped);
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> judge_overlap(const Context& context) {
  return {overlap(context, "SM-OVLP-1", CopyKind::htod),
          overlap(context, "SM-OVLP-2", CopyKind::dtoh)};
}

}  // namespace symmcts::judge

// SM-KIND-1: the same logical multicast write has the same copy kind on every rank. SM-KIND-2:
// multicast writes are peer copies on every rank. The signature of pytorch#192530 is DtoD on the
// creator and PtoP on everybody else.
#include <algorithm>
#include <set>

#include "harness/judge/parity.hpp"
#include "harness/judge/rules.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using Result = ParityGroup::Result;

std::string kinds_text(const std::vector<evidence::CopyKind>& kinds) {
  std::map<std::string, std::int64_t> counts;
  for (const evidence::CopyKind kind : kinds) {
    ++counts[evidence::name(kind)];
  }
  std::vector<std::string> parts;
  for (const auto& [kind, count] : counts) {
    parts.push_back(std::to_string(count) + " " + kind);
  }
  return join(parts, " and ");
}

std::string group_text(const ParityGroup& group) {
  std::string text = group.key.multicast ? "multicast writes of " : "copies of ";
  text += bytes_text(group.key.bytes);
  if (group.key.host) {
    text += ", host transfers";
  }
  if (!group.key.label.empty()) {
    text += ", " + group.key.label;
  }
  return text;
}

// Every rank's kinds under one key, ranks with the same kinds together.
std::string rank_kinds_text(const ParityGroup& group) {
  std::map<std::string, std::vector<int>> by_text;
  for (const auto& [rank, kinds] : group.kinds) {
    by_text[kinds_text(kinds)].push_back(rank);
  }
  std::vector<std::string> parts;
  for (const auto& [text, ranks] : by_text) {
    parts.push_back(ranks_text(ranks) + ": " + text);
  }
  return join(parts, "; ");
}

// Does any rank's source leave open what its device copies write to?
bool targets_hidden(const Context& context) {
  return std::any_of(context.set.ranks.begin(), context.set.ranks.end(),
                     [](const evidence::RankEvidence& rank) { return !rank.shows.targets; });
}

// Did any rank write through a multicast mapping, signals aside?
bool writes_multicast(const Context& context) {
  for (const std::vector<Operation>& operations : context.operations) {
    if (std::any_of(operations.begin(), operations.end(), [](const Operation& operation) {
          return operation.measured && operation.target == Target::multicast && !operation.signal();
        })) {
      return true;
    }
  }
  return false;
}

// Why agreement that was seen still does not prove parity; empty where it does.
std::string doubt(const Context& context, std::int64_t compared, const std::set<int>& taking_part) {
  if (context.set.ranks.size() < 2) {
    return "one rank only, nothing to compare with";
  }
  if (compared == 0) {
    return "no copies over 16 bytes that several ranks have in common";
  }
  if (const std::vector<int> missing = context.missing_ranks(); !missing.empty()) {
    return "what is here agrees, but " + ranks_text(missing) + " of " +
           std::to_string(context.set.world) + " ranks have no evidence here";
  }
  for (const evidence::RankEvidence& rank : context.set.ranks) {
    if (taking_part.count(rank.rank()) == 0) {
      return "rank " + std::to_string(rank.rank()) + " has no copies in common with the others";
    }
    if (!rank.shows.peer_kind) {
      return "this profiler has no kind for peer copies (rank " + std::to_string(rank.rank()) + ")";
    }
  }
  return {};
}

Verdict parity(const Context& context) {
  Verdict verdict = unknown_verdict("SM-KIND-1");
  const std::vector<ParityGroup> groups = compare_kinds(context, false);
  std::int64_t compared = 0;
  std::int64_t unmatched = 0;
  std::int64_t differing = 0;
  std::set<int> odd;
  std::set<int> taking_part;
  bool writes_differ = false;
  bool host_only = true;  // of what was compared
  std::vector<std::string> differ;
  std::vector<std::string> permuted;
  for (const ParityGroup& group : groups) {
    compared += group.compared;
    unmatched += group.unmatched;
    if (group.compared > 0) {
      host_only = host_only && group.key.host;
      for (const auto& [rank, kinds] : group.kinds) {
        taking_part.insert(rank);
      }
    }
    if (group.result == Result::differ) {
      differing += group.differing;
      odd.insert(group.odd.begin(), group.odd.end());
      writes_differ = writes_differ || group.key.multicast;
      differ.push_back(group_text(group) + ": " + rank_kinds_text(group));
      verdict.seen.emplace_back(group_text(group), rank_kinds_text(group));
    } else if (group.result == Result::permuted) {
      permuted.push_back(group_text(group) + ": " + rank_kinds_text(group));
    }
  }
  const bool rocm = std::any_of(context.set.ranks.begin(), context.set.ranks.end(),
                                [](const auto& rank) { return !rank.shows.peer_kind; });
  const std::string numbers =
      std::to_string(compared) + " compared, " + std::to_string(unmatched) + " unmatched";
  verdict.seen.emplace_back("operations", numbers);
  if (!differ.empty() && !rocm) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks.assign(odd.begin(), odd.end());
    verdict.reason = "copy kinds differ: " + ranks_text(verdict.ranks) +
                     odd_pattern(context, verdict.ranks) + "; " + join(differ, "; ") + " (" +
                     count_text(differing, "operation") + " of " + numbers + ")";
    if (!writes_differ && targets_hidden(context)) {
      verdict.reason +=
          ". The source does not show what was written to. Either the odd rank writes through a "
          "native multicast handle (pytorch#192530), or it wrote its own memory where the others "
          "wrote a peer's";
    }
    return verdict;
  }
  if (const std::string why = doubt(context, compared, taking_part); !why.empty()) {
    verdict.reason = why;
  } else if (!permuted.empty()) {
    verdict.reason = "permuted: the kinds come in another order, and the targets are not known; " +
                     join(permuted, "; ");
  } else if (!targets_hidden(context) && !writes_multicast(context)) {
    verdict.reason = "what is here agrees (" + numbers + "), but no multicast write is among it";
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = context.present_ranks();
    verdict.reason = "same copy kinds on " + ranks_text(verdict.ranks) + " (" + numbers + ")" +
                     (host_only ? "; only host copies were compared" : "");
  }
  return verdict;
}

Verdict peer_copies(const Context& context) {
  Verdict verdict = unknown_verdict("SM-KIND-2");
  std::vector<int> wrong;
  std::vector<int> right;
  std::vector<int> silent;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const int rank = context.set.ranks[i].rank();
    std::vector<evidence::CopyKind> kinds;
    for (const Operation& operation : context.operations[i]) {
      if (operation.measured && operation.target == Target::multicast && !operation.signal()) {
        kinds.push_back(operation.copy->kind);
      }
    }
    const bool peers = std::all_of(kinds.begin(), kinds.end(), [](evidence::CopyKind kind) {
      return kind == evidence::CopyKind::ptop;
    });
    (kinds.empty() ? silent : peers ? right : wrong).push_back(rank);
    if (!kinds.empty()) {
      verdict.seen.emplace_back("rank " + std::to_string(rank), kinds_text(kinds));
    }
  }
  const std::vector<int> missing = context.missing_ranks();
  silent.insert(silent.end(), missing.begin(), missing.end());
  if (!wrong.empty()) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = wrong;
    verdict.reason = "multicast writes are not peer copies on " + ranks_text(wrong) +
                     odd_pattern(context, wrong);
  } else if (targets_hidden(context)) {
    verdict.reason = "the source does not show which copies are multicast writes";
  } else if (right.empty()) {
    verdict.reason = "no multicast write in the measured phase";
  } else if (!silent.empty()) {
    verdict.ranks = silent;
    verdict.reason = "no multicast write in the measured phase of " + ranks_text(silent);
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = right;
    verdict.reason = "multicast writes are peer copies on " + ranks_text(right);
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> judge_copy_kind(const Context& context) {
  return {parity(context), peer_copies(context)};
}

}  // namespace symmcts::judge

// SM-PROV-1: on every rank the multicast mapping is made from an imported handle, the creator's
// included. SM-PROV-2: all ranks of a group have the same provenance. Recorded calls decide
// (pytorch#192530, torchcomms#3498).
#include <algorithm>
#include <map>

#include "harness/judge/rules.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

struct RankMappings {
  int native = 0;
  int imported = 0;
  int unknown = 0;
};

// The ranks whose source shows no calls at all.
std::vector<int> blind_ranks(const Context& context) {
  std::vector<int> blind;
  for (const evidence::RankEvidence& rank : context.set.ranks) {
    if (!rank.shows.provenance) {
      blind.push_back(rank.rank());
    }
  }
  return blind;
}

// Ranks of every group in which somebody has a multicast mapping.
std::vector<int> expected_ranks(const Context& context) {
  std::vector<int> expected;
  for (const RankObjects& objects : context.objects) {
    for (const MappingFact& mapping : objects.mappings) {
      if (mapping.multicast) {
        const std::vector<int> group = group_ranks(context.set, mapping.group);
        expected.insert(expected.end(), group.begin(), group.end());
      }
    }
  }
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  return expected;
}

Verdict every_mapping_imported(const Context& context) {
  Verdict verdict = unknown_verdict("SM-PROV-1");
  std::map<int, RankMappings> by_rank;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    for (const MappingFact& mapping : context.objects[i].mappings) {
      if (mapping.multicast) {
        RankMappings& count = by_rank[context.set.ranks[i].rank()];
        (mapping.provenance == Provenance::native     ? count.native
         : mapping.provenance == Provenance::imported ? count.imported
                                                      : count.unknown)++;
      }
    }
  }
  std::vector<int> native;
  std::vector<int> imported;
  std::vector<int> unclear;
  for (const auto& [rank, count] : by_rank) {
    (count.native > 0 ? native : count.unknown > 0 ? unclear : imported).push_back(rank);
    verdict.seen.emplace_back("rank " + std::to_string(rank),
                              std::to_string(count.native) + " native, " +
                                  std::to_string(count.imported) + " imported multicast mappings");
  }
  for (const int rank : expected_ranks(context)) {
    if (by_rank.count(rank) == 0) {
      unclear.push_back(rank);
    }
  }
  if (!native.empty()) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = native;
    verdict.reason = ranks_text(native) + odd_pattern(context, native) +
                     ": the multicast mapping is made from the handle that cuMulticastCreate "
                     "returned, not from an imported one";
  } else if (imported.empty()) {
    verdict.reason = "no multicast mapping in the evidence";
  } else if (!unclear.empty()) {
    verdict.ranks = unclear;
    verdict.reason = "no multicast mapping of known provenance on " + ranks_text(unclear);
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = imported;
    verdict.reason = "every multicast mapping is made from an imported handle";
  }
  return verdict;
}

// The n-th multicast mapping of a group is the same block on every rank. Those that were undone
// before the rank was ready are no blocks: in a try that failed on one rank the others may have
// mapped and that rank not.
using BlockKey = std::pair<std::string, std::size_t>;

Verdict same_on_all_ranks(const Context& context) {
  Verdict verdict = unknown_verdict("SM-PROV-2");
  std::map<BlockKey, std::map<int, Provenance>> blocks;
  std::int64_t undone = 0;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    std::map<std::string, std::size_t> next;
    for (const MappingFact& mapping : context.objects[i].mappings) {
      undone += mapping.multicast && mapping.undone ? 1 : 0;
      if (mapping.multicast && !mapping.undone) {
        blocks[{mapping.group, next[mapping.group]++}][context.set.ranks[i].rank()] =
            mapping.provenance;
      }
    }
  }
  std::vector<int> native;
  std::vector<std::string> incomplete;
  std::size_t mixed = 0;
  for (const auto& [key, provenances] : blocks) {
    const std::string block = "block " + std::to_string(key.second + 1) +
                              (key.first.empty() ? "" : " of group " + key.first);
    std::vector<int> with[3];
    for (const auto& [rank, provenance] : provenances) {
      with[static_cast<int>(provenance)].push_back(rank);
    }
    const std::vector<int>& natives = with[static_cast<int>(Provenance::native)];
    const std::vector<int>& imports = with[static_cast<int>(Provenance::imported)];
    if (!natives.empty() && !imports.empty()) {
      ++mixed;
      native.insert(native.end(), natives.begin(), natives.end());
      verdict.seen.emplace_back(
          block, ranks_text(natives) + " native, " + ranks_text(imports) + " imported");
    }
    if (!with[static_cast<int>(Provenance::unknown)].empty() ||
        provenances.size() < group_ranks(context.set, key.first).size()) {
      incomplete.push_back(block);
    }
  }
  std::sort(native.begin(), native.end());
  native.erase(std::unique(native.begin(), native.end()), native.end());
  if (mixed > 0) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = native;
    verdict.reason = "provenance differs within a group in " + std::to_string(mixed) + " of " +
                     count_text(static_cast<std::int64_t>(blocks.size()), "block") + ": " +
                     ranks_text(native) + odd_pattern(context, native) +
                     " native, the others imported";
  } else if (blocks.empty()) {
    verdict.reason = "no multicast mapping in the evidence";
  } else if (!incomplete.empty()) {
    verdict.reason = "not known on every rank for " + join(incomplete, ", ");
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = context.present_ranks();
    verdict.reason = "one provenance a block on all ranks of its group, in " +
                     count_text(static_cast<std::int64_t>(blocks.size()), "block");
  }
  if (undone > 0) {
    verdict.reason += " (left out: " + count_text(undone, "mapping") +
                      " of tries that were undone before the rank was ready)";
  }
  return verdict;
}

}  // namespace

std::vector<Verdict> judge_provenance(const Context& context) {
  std::vector<Verdict> verdicts{every_mapping_imported(context), same_on_all_ranks(context)};
  const std::vector<int> blind = blind_ranks(context);
  for (Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::fail && !blind.empty()) {
      verdict.status = VerdictStatus::unknown;
      verdict.ranks = blind;
      verdict.reason = "the source shows no handles (" + ranks_text(blind) + ")";
    }
  }
  return verdicts;
}

}  // namespace symmcts::judge

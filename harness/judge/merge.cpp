#include <algorithm>
#include <map>
#include <set>

#include "harness/judge/judge.hpp"

namespace symmcts::judge {
namespace {

struct Vote {
  const UnitJudgement* unit = nullptr;
  const Verdict* verdict = nullptr;
  bool declared = false;  // the unit's case is about the id
};

// Lower decides. A unit that is about the id outweighs one that happens to show it.
int rank_of(const Vote& vote) {
  switch (vote.verdict->status) {
    case VerdictStatus::error:
      return 0;
    case VerdictStatus::fail:
      return 1;
    case VerdictStatus::waived:
      return 2;
    case VerdictStatus::unknown:
      return vote.declared ? 3 : 6;
    case VerdictStatus::pass:
      return 4;
    case VerdictStatus::skipped:
      return 5;
  }
  return 6;
}

// "A", "A and B", "A, B and C"; of many, as with many seeds, the first and how many more.
std::string listed(std::vector<std::string> words) {
  constexpr std::size_t kMost = 16, kShown = 4;
  if (words.size() > kMost) {
    const std::string more = std::to_string(words.size() - kShown) + " more";
    words.resize(kShown);
    words.push_back(more);
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* between = i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
    text += between + words[i];
  }
  return text;
}

Verdict decide(const std::string& id, const std::vector<Vote>& votes) {
  int best = 6;
  for (const Vote& vote : votes) {
    best = std::min(best, rank_of(vote));
  }
  Verdict out = unknown_verdict(id);
  std::set<int> ranks;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // with their units
  bool declared = false;
  for (const Vote& vote : votes) {
    if (rank_of(vote) != best) {
      continue;
    }
    const Verdict& verdict = *vote.verdict;
    out.status = verdict.status;
    ranks.insert(verdict.ranks.begin(), verdict.ranks.end());
    auto reason = std::find_if(reasons.begin(), reasons.end(),
                               [&](const auto& entry) { return entry.first == verdict.reason; });
    if (reason == reasons.end()) {
      reason = reasons.insert(reasons.end(), {verdict.reason, {}});
    }
    reason->second.push_back(vote.unit->unit);
    for (const auto& [key, value] : verdict.seen) {
      out.seen.emplace_back(vote.unit->unit + ", " + key, value);
    }
    if (out.again.empty() || (vote.declared && !declared)) {
      out.again = verdict.again;
    }
    declared = declared || vote.declared;
  }
  for (const auto& [reason, units] : reasons) {
    if (!reason.empty()) {
      out.reason += (out.reason.empty() ? "" : "; ") + listed(units) + ": " + reason;
    }
  }
  out.ranks.assign(ranks.begin(), ranks.end());
  return out;
}

// A unit that did not run, where others gave the verdicts of its ids: nothing else would tell of
// it.
std::string why_not_run(const UnitJudgement& unit, const std::vector<Verdict>& verdicts) {
  std::string reason;
  for (const Verdict& own : unit.judgement.verdicts) {
    if (std::find(unit.ids.begin(), unit.ids.end(), own.id) == unit.ids.end()) {
      continue;
    }
    const bool told = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.id == own.id && verdict.status == VerdictStatus::skipped;
    });
    if (own.status != VerdictStatus::skipped || told) {
      return {};
    }
    reason = own.reason;
  }
  return reason;
}

void add(std::map<std::string, std::int64_t>& to, const std::map<std::string, std::int64_t>& from) {
  for (const auto& [kind, count] : from) {
    to[kind] += count;
  }
}

}  // namespace

Judgement merge(const std::vector<UnitJudgement>& units) {
  std::map<std::string, std::vector<Vote>> votes;
  std::map<int, RankSummary> ranks;
  Judgement out;
  for (const UnitJudgement& unit : units) {
    for (const Verdict& verdict : unit.judgement.verdicts) {
      const bool declared =
          std::find(unit.ids.begin(), unit.ids.end(), verdict.id) != unit.ids.end();
      votes[verdict.id].push_back({&unit, &verdict, declared});
    }
    for (const RankSummary& summary : unit.judgement.ranks) {
      RankSummary& sum = ranks.try_emplace(summary.rank, RankSummary{}).first->second;
      sum.rank = summary.rank;
      sum.host = summary.host;
      sum.device = std::max(sum.device, summary.device);
      add(sum.copies, summary.copies);
      add(sum.host_copies, summary.host_copies);
      add(sum.signals, summary.signals);
    }
    for (const Observation& observation : unit.judgement.observations) {
      out.observations.push_back({observation.rank, unit.unit + ", " + observation.text});
    }
    for (const std::string& text : unit.judgement.uncovered) {
      out.uncovered.push_back(unit.unit + ": " + text);
    }
    for (const std::string& note : unit.judgement.notes) {
      out.notes.push_back(unit.unit + ": " + note);
    }
  }
  for (const auto& [id, list] : votes) {
    out.verdicts.push_back(decide(id, list));
  }
  for (const UnitJudgement& unit : units) {
    if (const std::string why = why_not_run(unit, out.verdicts); !why.empty()) {
      out.notes.push_back(unit.unit + ": skipped: " + why);
    }
  }
  for (const auto& [rank, summary] : ranks) {
    out.ranks.push_back(summary);
  }
  return out;
}

}  // namespace symmcts::judge

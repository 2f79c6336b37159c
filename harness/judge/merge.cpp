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

Verdict decide(const std::string& id, const std::vector<Vote>& votes) {
  int best = 6;
  for (const Vote& vote : votes) {
    best = std::min(best, rank_of(vote));
  }
  Verdict out = unknown_verdict(id);
  std::set<int> ranks;
  std::set<std::string> reasons;
  std::size_t units = 0;
  for (const Vote& vote : votes) {
    if (rank_of(vote) != best) {
      continue;
    }
    const Verdict& verdict = *vote.verdict;
    ++units;
    out.status = verdict.status;
    ranks.insert(verdict.ranks.begin(), verdict.ranks.end());
    if (reasons.insert(verdict.reason).second && !verdict.reason.empty()) {
      out.reason += (out.reason.empty() ? "" : "; ") + vote.unit->unit + ": " + verdict.reason;
    }
    for (const auto& [key, value] : verdict.seen) {
      out.seen.emplace_back(vote.unit->unit + ", " + key, value);
    }
    if (out.again.empty()) {
      out.again = verdict.again;
    }
  }
  out.ranks.assign(ranks.begin(), ranks.end());
  return out;
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
  for (const auto& [rank, summary] : ranks) {
    out.ranks.push_back(summary);
  }
  return out;
}

}  // namespace symmcts::judge

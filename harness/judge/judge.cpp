#include "harness/judge/judge.hpp"

#include <algorithm>
#include <set>

#include "harness/judge/checks.hpp"
#include "harness/judge/context.hpp"
#include "harness/judge/gaps.hpp"
#include "harness/judge/incidents.hpp"
#include "harness/judge/observe.hpp"
#include "harness/judge/rules.hpp"
#include "harness/judge/summary.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<Verdict> apply_rules(const Context& context) {
  std::vector<Verdict> all;
  for (const auto rule :
       {judge_provenance, judge_copy_kind, judge_overlap, judge_lifetime, judge_data}) {
    for (Verdict& verdict : rule(context)) {
      all.push_back(std::move(verdict));
    }
  }
  return all;
}

// A check of the rank program that failed is a fail of every id it names, whatever the evidence
// shows; a skip explains why the evidence could not tell.
void add_checks(const Context& context, Verdict& verdict) {
  const Checks checks = read_checks(context, verdict.id);
  if (!checks.failures.empty() && verdict.status != VerdictStatus::fail) {
    verdict = verdict_from_checks(context, verdict.id);
  } else if (verdict.status == VerdictStatus::unknown && !checks.skips.empty()) {
    verdict.status = VerdictStatus::skipped;
    verdict.reason = join(checks.skips, "; ");
  }
}

// Hangs, crashes and harness errors of the unit: verdicts of the ids that they concern, or
// `uncovered`.
void add_incidents(const Context& context, const std::vector<std::string>& declared,
                   Judgement& judgement) {
  std::vector<std::string> incidents;
  for (const Hanging& hang : read_hangs(context.set)) {
    incidents.push_back("hang: " + hang.text());
  }
  const bool hung = !incidents.empty();
  for (const std::string& crash : read_crashes(context.set)) {
    incidents.push_back("crash: " + crash);
  }
  bool covered = hung && lifetime_explains_hang(context);
  for (Verdict& verdict : judgement.verdicts) {
    if (incidents.empty()) {
      break;
    }
    if (verdict.id == "SM-LIFE-1" && verdict.status == VerdictStatus::pass) {
      verdict = unknown_verdict(verdict.id);  // the lives that it saw were cut short
      verdict.reason = join(incidents, "; ");
    }
    if (!covers_hangs(verdict.id)) {
      continue;
    }
    const bool explained = hung && verdict.status == VerdictStatus::fail;
    if (!explained && contains(declared, verdict.id)) {
      verdict.status = VerdictStatus::fail;
      verdict.reason = join(incidents, "; ");
      const std::vector<int> crashed = crashed_ranks(context.set);
      verdict.ranks = hung || crashed.empty() ? context.present_ranks() : crashed;
    }
    covered = covered || explained || contains(declared, verdict.id);
  }
  if (!covered) {
    judgement.uncovered = std::move(incidents);
  }
  const std::vector<std::string> errors = read_errors(context.set);
  if (errors.empty()) {
    return;
  }
  const bool concerns_all =
      std::none_of(judgement.verdicts.begin(), judgement.verdicts.end(),
                   [&](const Verdict& verdict) { return contains(declared, verdict.id); });
  for (Verdict& verdict : judgement.verdicts) {
    if (concerns_all || contains(declared, verdict.id)) {
      verdict.status = VerdictStatus::error;
      verdict.reason = join(errors, "; ");
    }
  }
}

// Steps of the implementation that failed: notes where a reported requirement that speaks of
// failures failed as well, or a rank crashed (the others fail then, and are not to blame), else
// findings that nothing covers. A fail of another requirement (a copy kind, say) does not explain
// them.
void add_failed_steps(const Context& context, Judgement& judgement) {
  const bool explained =
      std::any_of(judgement.verdicts.begin(), judgement.verdicts.end(), [](const Verdict& verdict) {
        return verdict.status == VerdictStatus::fail &&
               (verdict.id == "SM-LIFE-1" || covers_hangs(verdict.id));
      });
  std::vector<std::string>& lines =
      explained || lost_ranks(context.set) || !read_crashes(context.set).empty()
          ? judgement.notes
          : judgement.uncovered;
  for (const std::string& step : read_failed_steps(context.set)) {
    lines.push_back("failed step: " + step);
  }
}

std::vector<std::string> read_notes(const Context& context) {
  std::vector<std::string> notes;
  if (const std::vector<int> missing = context.missing_ranks(); !missing.empty()) {
    notes.push_back("no evidence of " + ranks_text(missing) + " of " +
                    std::to_string(context.set.world));
  }
  std::vector<int> coarse;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const evidence::RankEvidence& rank = context.set.ranks[i];
    const std::string prefix = "rank " + std::to_string(rank.rank()) + ": ";
    for (const std::string& note : rank.notes) {
      notes.push_back(prefix + note);
    }
    if (rank.shows.resolution > 1) {
      coarse.push_back(rank.rank());
    }
    const auto graphs = std::count_if(rank.copies.begin(), rank.copies.end(),
                                      [](const evidence::Copy& copy) { return copy.graph; });
    if (graphs > 0) {
      notes.push_back(prefix + count_text(graphs, "record") +
                      " from CUDA graphs, which may be doubled or missing");
    }
  }
  if (!coarse.empty()) {
    notes.push_back(ranks_text(coarse) +
                    ": whole-microsecond times; overlaps up to 2 us are not "
                    "counted");
  }
  for (const evidence::Misuse& misuse : context.set.machine.misuses) {
    notes.push_back("rank " + std::to_string(misuse.rank) + ": " +
                    (misuse.text.empty() ? misuse.kind : misuse.text));
  }
  for (const evidence::ScenarioFault& fault : context.set.machine.faults) {
    notes.push_back("scenario: " + (fault.text.empty() ? fault.entry : fault.text));
  }
  for (const std::string& note : context.set.machine.notes) {
    notes.push_back("machine: " + note);
  }
  return notes;
}

}  // namespace

const std::vector<std::string>& judged_ids() {
  static const std::vector<std::string> ids{"SM-DATA-1", "SM-DATA-3", "SM-KIND-1",
                                            "SM-KIND-2", "SM-LIFE-1", "SM-OVLP-1",
                                            "SM-OVLP-2", "SM-PROV-1", "SM-PROV-2"};
  return ids;
}

std::vector<std::string> declared_ids(const evidence::EvidenceSet& set) {
  std::set<std::string> ids;
  for (const evidence::UnitEnd& unit : set.machine.units) {
    ids.insert(unit.ids.begin(), unit.ids.end());
  }
  for (const evidence::RankEvidence& rank : set.ranks) {
    for (const evidence::Mark& mark : rank.marks) {
      if (mark.what == "case-begin") {
        ids.insert(mark.ids.begin(), mark.ids.end());
      }
    }
  }
  return {ids.begin(), ids.end()};
}

Judgement judge(const evidence::EvidenceSet& set, const JudgeOptions& options) {
  const Context context(set, options);
  const std::vector<std::string> declared = declared_ids(set);
  Judgement judgement;
  judgement.verdicts = apply_rules(context);
  // Ids without a rule of their own are what the rank programs say about them.
  std::set<std::string> others(declared.begin(), declared.end());
  for (const std::string& id : checked_ids(set)) {
    others.insert(id);
  }
  others.insert(options.ids.begin(), options.ids.end());
  for (const std::string& id : others) {
    if (!contains(judged_ids(), id)) {
      judgement.verdicts.push_back(verdict_from_checks(context, id));
    }
  }
  for (Verdict& verdict : judgement.verdicts) {
    add_checks(context, verdict);
  }
  add_incidents(context, declared, judgement);
  withhold_passes(context, judgement.verdicts);
  for (Verdict& verdict : judgement.verdicts) {
    verdict.again = options.again;
  }
  if (!options.ids.empty()) {
    std::erase_if(judgement.verdicts,
                  [&](const Verdict& verdict) { return !contains(options.ids, verdict.id); });
  }
  judgement.notes = read_notes(context);
  add_failed_steps(context, judgement);
  std::sort(judgement.verdicts.begin(), judgement.verdicts.end(),
            [](const Verdict& a, const Verdict& b) { return a.id < b.id; });
  judgement.observations = observe(context);
  judgement.ranks = summarize(context);
  return judgement;
}

}  // namespace symmcts::judge

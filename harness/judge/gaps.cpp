#include "harness/judge/gaps.hpp"

#include <algorithm>

#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using evidence::RankEvidence;

// Cases that began on the rank and did not end there. A rank program that gives up ends like any
// other program, with a whole file.
std::vector<std::string> unended_cases(const RankEvidence& rank) {
  std::vector<std::string> open;
  for (const evidence::Mark& mark : rank.marks) {
    if (mark.what == "case-begin") {
      open.push_back(mark.case_name);
    } else if (mark.what == "case-end") {
      std::erase(open, mark.case_name);
    }
  }
  return open;
}

bool rests_on_records(const std::string& id) {
  return id.rfind("SM-KIND-", 0) == 0 || id.rfind("SM-OVLP-", 0) == 0;
}

struct Gaps {
  std::vector<std::string> texts;  // one line each
  std::vector<int> ranks;
};

Gaps read_gaps(const Context& context) {
  Gaps gaps;
  gaps.ranks = context.missing_ranks();
  if (!gaps.ranks.empty()) {
    gaps.texts.push_back("no evidence of " + ranks_text(gaps.ranks) + " of " +
                         std::to_string(context.set.world));
  }
  for (const RankEvidence& rank : context.set.ranks) {
    std::vector<std::string> texts{rank.cut};
    if (rank.cut.empty()) {  // else that says why a case did not end, too
      texts = unended_cases(rank);
      for (std::string& text : texts) {
        text = "case " + text + " did not end";
      }
    }
    for (const std::string& text : texts) {
      gaps.texts.push_back("rank " + std::to_string(rank.rank()) + ": " + text);
    }
    if (!texts.empty()) {
      gaps.ranks.push_back(rank.rank());
    }
  }
  std::sort(gaps.ranks.begin(), gaps.ranks.end());
  if (context.set.machine.cut) {
    gaps.texts.push_back("machine: no unit line: the file was cut");
  }
  return gaps;
}

void withhold(const std::string& why, const std::vector<int>& ranks, Verdict& verdict) {
  verdict.status = VerdictStatus::unknown;
  verdict.ranks = ranks;
  verdict.reason = why + "; as far as the evidence goes: " + verdict.reason;
}

}  // namespace

void withhold_passes(const Context& context, std::vector<Verdict>& verdicts) {
  const Gaps gaps = read_gaps(context);
  std::vector<int> lossy, damaged;
  for (const RankEvidence& rank : context.set.ranks) {
    if (rank.dropped > 0) {
      lossy.push_back(rank.rank());
    }
    if (rank.lost_copies > 0) {
      damaged.push_back(rank.rank());
    }
  }
  for (Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::pass) {
      continue;
    }
    if (!gaps.texts.empty()) {
      withhold(join(gaps.texts, "; "), gaps.ranks, verdict);
    } else if (!lossy.empty() && rests_on_records(verdict.id)) {
      withhold("the profiler dropped records of " + ranks_text(lossy), lossy, verdict);
    } else if (!damaged.empty() && rests_on_records(verdict.id)) {
      withhold("copies of " + ranks_text(damaged) + " are damaged", damaged, verdict);
    }
  }
}

}  // namespace symmcts::judge

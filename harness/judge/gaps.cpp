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

void withhold(const std::string& why, Verdict& verdict) {
  verdict.status = VerdictStatus::unknown;
  verdict.reason = why + "; as far as the evidence goes: " + verdict.reason;
}

}  // namespace

std::vector<std::string> read_gaps(const Context& context) {
  std::vector<std::string> gaps;
  if (const std::vector<int> missing = context.missing_ranks(); !missing.empty()) {
    gaps.push_back("no evidence of " + ranks_text(missing) + " of " +
                   std::to_string(context.set.world));
  }
  for (const RankEvidence& rank : context.set.ranks) {
    const std::string name = "rank " + std::to_string(rank.rank()) + ": ";
    if (!rank.cut.empty()) {
      gaps.push_back(name + rank.cut);
      continue;  // that says why a case did not end, too
    }
    for (const std::string& unended : unended_cases(rank)) {
      gaps.push_back(name + "case " + unended + " did not end");
    }
  }
  if (context.set.machine.cut) {
    gaps.push_back("machine: no unit line: the file was cut");
  }
  return gaps;
}

void withhold_passes(const Context& context, std::vector<Verdict>& verdicts) {
  const std::vector<std::string> gaps = read_gaps(context);
  std::vector<int> lossy;
  for (const RankEvidence& rank : context.set.ranks) {
    if (rank.dropped > 0) {
      lossy.push_back(rank.rank());
    }
  }
  for (Verdict& verdict : verdicts) {
    if (verdict.status != VerdictStatus::pass) {
      continue;
    }
    if (!gaps.empty()) {
      withhold(join(gaps, "; "), verdict);
    } else if (!lossy.empty() && rests_on_records(verdict.id)) {
      withhold("the profiler dropped records of " + ranks_text(lossy), verdict);
    }
  }
}

}  // namespace symmcts::judge

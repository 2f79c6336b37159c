#include "harness/judge/checks.hpp"

#include <algorithm>
#include <set>

#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

constexpr std::size_t kShownFailures = 4;

bool names(const evidence::Mark& mark, const std::string& id) {
  return std::find(mark.ids.begin(), mark.ids.end(), id) != mark.ids.end();
}

}  // namespace

Checks read_checks(const Context& context, const std::string& id) {
  Checks checks;
  std::set<int> passed;
  std::set<int> failed;
  for (const evidence::RankEvidence& rank : context.set.ranks) {
    for (const evidence::Mark& mark : rank.marks) {
      if (!names(mark, id)) {
        continue;
      }
      if (mark.what == "check" && mark.ok) {
        ++checks.passed;
        passed.insert(rank.rank());
      } else if (mark.what == "check") {
        failed.insert(rank.rank());
        checks.failures.push_back("rank " + std::to_string(rank.rank()) + ": " +
                                  (mark.text.empty() ? "check failed" : mark.text));
      } else if (mark.what == "skip" && std::find(checks.skips.begin(), checks.skips.end(),
                                                  mark.text) == checks.skips.end()) {
        checks.skips.push_back(mark.text);
      }
    }
  }
  checks.passed_on.assign(passed.begin(), passed.end());
  checks.failed_on.assign(failed.begin(), failed.end());
  return checks;
}

std::vector<std::string> checked_ids(const evidence::EvidenceSet& set) {
  std::set<std::string> ids;
  for (const evidence::RankEvidence& rank : set.ranks) {
    for (const evidence::Mark& mark : rank.marks) {
      if (mark.what == "check" || mark.what == "skip") {
        ids.insert(mark.ids.begin(), mark.ids.end());
      }
    }
  }
  return {ids.begin(), ids.end()};
}

Verdict verdict_from_checks(const Context& context, const std::string& id) {
  Verdict verdict = unknown_verdict(id);
  const Checks checks = read_checks(context, id);
  if (!checks.failures.empty()) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = checks.failed_on;
    std::vector<std::string> shown(
        checks.failures.begin(),
        checks.failures.begin() +
            static_cast<std::ptrdiff_t>(std::min(checks.failures.size(), kShownFailures)));
    if (shown.size() < checks.failures.size()) {
      shown.push_back(std::to_string(checks.failures.size() - shown.size()) + " more");
    }
    verdict.reason = join(shown, "; ");
    return verdict;
  }
  if (checks.passed == 0) {
    verdict.reason = "no check of it in the evidence";
    return verdict;
  }
  std::vector<int> silent = context.missing_ranks();
  for (const int rank : context.present_ranks()) {
    if (!std::binary_search(checks.passed_on.begin(), checks.passed_on.end(), rank)) {
      silent.push_back(rank);
    }
  }
  std::sort(silent.begin(), silent.end());
  if (!silent.empty()) {
    verdict.ranks = silent;
    verdict.reason = "not checked on " + ranks_text(silent);
    return verdict;
  }
  verdict.status = VerdictStatus::pass;
  verdict.ranks = checks.passed_on;
  verdict.reason = count_text(checks.passed, "check") + " passed on " + ranks_text(verdict.ranks);
  return verdict;
}

}  // namespace symmcts::judge

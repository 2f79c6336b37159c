#include "harness/judge/exit_code.hpp"

#include <algorithm>

namespace symmcts::judge {
namespace {

const Verdict* find(const Judgement& judgement, const std::string& id) {
  const auto at = std::find_if(judgement.verdicts.begin(), judgement.verdicts.end(),
                               [&](const Verdict& verdict) { return verdict.id == id; });
  return at == judgement.verdicts.end() ? nullptr : &*at;
}

bool any(const Judgement& judgement, VerdictStatus status) {
  return std::any_of(judgement.verdicts.begin(), judgement.verdicts.end(),
                     [status](const Verdict& verdict) { return verdict.status == status; });
}

bool lacking(const Judgement& judgement, const std::vector<std::string>& ids, bool unknown_counts) {
  return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const Verdict* verdict = find(judgement, id);
    return verdict == nullptr || verdict->status == VerdictStatus::skipped ||
           (unknown_counts && verdict->status == VerdictStatus::unknown);
  });
}

}  // namespace

int exit_code(const Judgement& judgement, const ExitRule& rule) {
  if (any(judgement, VerdictStatus::error)) {
    return kExitError;
  }
  if (any(judgement, VerdictStatus::fail)) {
    return kExitFail;
  }
  if (lacking(judgement, rule.must_run, rule.unknown_counts) ||
      lacking(judgement, rule.required, true) || !judgement.uncovered.empty()) {
    return kExitIncomplete;
  }
  const bool judged = any(judgement, VerdictStatus::pass) || any(judgement, VerdictStatus::waived);
  return judged ? kExitPass : kExitNothing;
}

}  // namespace symmcts::judge

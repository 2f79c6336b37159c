#pragma once

#include <string>
#include <vector>

#include "harness/judge/judge.hpp"

namespace symmcts::judge {

// The process exit codes of design section 5 that follow from verdicts. Usage and unreadable input
// (2) are decided before there is a judgement.
inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitError = 3;
inline constexpr int kExitIncomplete = 4;
inline constexpr int kExitNothing = 5;

struct ExitRule {
  // Ids that must have been run: skipped gives 4, and so does unknown where `unknown_counts`.
  std::vector<std::string> must_run;
  bool unknown_counts = false;  // true in `run`
  // `--require ID`: unknown or skipped gives 4 in every verb.
  std::vector<std::string> required;
};

// The first that applies: any error 3, any fail 1, a must-run or required id that is skipped,
// unknown (as the rule says) or absent, or an uncovered hang, crash or failed step 4, nothing
// judged at all (no pass, no fail, no waiver) 5, else 0.
int exit_code(const Judgement& judgement, const ExitRule& rule = {});

}  // namespace symmcts::judge

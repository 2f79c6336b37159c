#include <charconv>
#include <cstdio>

#include "harness/cli/again.hpp"
#include "harness/cli/console.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/evidence/load.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/judge/judge.hpp"
#include "harness/report/report.hpp"

namespace symmcts::cli {
namespace {

// "FILE=N": the file is rank N's. A file name may itself hold '='.
Status read_rank(const std::string& text, evidence::LoadOptions& options) {
  const auto equals = text.rfind('=');
  int rank = -1;
  if (equals != std::string::npos && equals > 0) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, rank);
    if (error != std::errc() || rest != end) rank = -1;
  }
  if (rank < 0) return Error{"--rank " + text + ": must be FILE=N"};
  options.rank_of[text.substr(0, equals)] = rank;
  return {};
}

}  // namespace

int check(const CheckOptions& options) {
  evidence::LoadOptions load;
  for (const std::string& rank : options.ranks) {
    if (const Status read = read_rank(rank, load); !read) {
      return fail(judge::kExitUsage, read.error());
    }
  }
  const auto set = evidence::load(options.files, load);
  if (!set) return fail(judge::kExitUsage, set.error());

  judge::JudgeOptions judging;
  judging.again = again(options);

  report::Report result;
  result.verb = "check";
  result.judgement = judge::judge(set.value(), judging);
  judge::ExitRule rule;
  rule.required = options.required;
  result.exit = judge::exit_code(result.judgement, rule);
  report::TextOptions text;
  text.colour = stdout_is_terminal();
  std::fputs(options.json ? report::to_json(result).c_str() : report::to_text(result, text).c_str(),
             stdout);
  return result.exit;
}

}  // namespace symmcts::cli

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "harness/cli/again.hpp"
#include "harness/cli/catalogue_check.hpp"
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
  const auto [at, fresh] = options.rank_of.try_emplace(text.substr(0, equals), rank);
  if (!fresh && at->second != rank) {
    return Error{"--rank " + text + ": the file is rank " + std::to_string(at->second) +
                 " already"};
  }
  return {};
}

// A required id is one of the catalogue: a misspelt one would never be judged.
Status check_required(const std::vector<std::string>& required) {
  if (required.empty()) return {};
  const auto at = find_locations(false);
  if (!at) return Error{at.error()};
  const auto catalogue = load_catalogue(at.value());
  if (!catalogue) return Error{catalogue.error()};
  const auto known = ids_of(catalogue.value());
  for (const std::string& id : required) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      return Error{"--require " + id + ": no such requirement"};
    }
  }
  return {};
}

// Which of the required ids nothing was found out about: why the exit code is 4.
std::vector<std::string> not_judged(const judge::Judgement& judgement,
                                    const std::vector<std::string>& required) {
  std::vector<std::string> notes;
  for (const std::string& id : required) {
    const bool judged = std::any_of(
        judgement.verdicts.begin(), judgement.verdicts.end(), [&](const judge::Verdict& verdict) {
          return verdict.id == id && verdict.status != judge::VerdictStatus::unknown &&
                 verdict.status != judge::VerdictStatus::skipped;
        });
    if (!judged) notes.push_back(id + " is required, and cannot be judged from these files");
  }
  return notes;
}

}  // namespace

int check(const CheckOptions& options) {
  evidence::LoadOptions load;
  for (const std::string& rank : options.ranks) {
    if (const Status read = read_rank(rank, load); !read) {
      return fail(judge::kExitUsage, read.error());
    }
  }
  if (const Status known = check_required(options.required); !known) {
    return fail(judge::kExitUsage, known.error());
  }
  const auto set = evidence::load(options.files, load);
  if (!set) return fail(judge::kExitUsage, set.error());

  judge::JudgeOptions judging;
  judging.again = again(options);

  report::Report result;
  result.verb = "check";
  result.judgement = judge::judge(set.value(), judging);
  for (std::string& note : not_judged(result.judgement, options.required)) {
    result.judgement.notes.push_back(std::move(note));
  }
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

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/again.hpp"
#include "harness/cli/catalogue_check.hpp"
#include "harness/cli/common.hpp"
#include "harness/cli/console.hpp"
#include "harness/cli/machine.hpp"
#include "harness/cli/output.hpp"
#include "harness/cli/suite.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/report/report.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

constexpr int kRanks = 2;

struct Trial {
  launch::ImplementationName implementation;
  int exit = judge::kExitError;
  std::vector<std::string> failed;
  std::string problem;  // why it is not as it must be; empty: it is, or is skipped
  std::string skipped;  // why it cannot be tried on this machine
};

// Why a defect does no harm on the machine; empty: it does.
std::string harmless(const launch::ImplementationName& implementation, const Machine& machine) {
  if (implementation.needs.empty() || (implementation.needs == "fabric" && machine.fabric)) {
    return {};
  }
  return "needs a platform with FABRIC handles; by descriptor it does no harm, because an open "
         "descriptor keeps the object alive";
}

// Why the machine does not have what the trial's verdict needs; empty: it has. `ids`: what decides.
std::string unavailable(const judge::Judgement& judgement, const std::vector<std::string>& ids) {
  std::string reason;
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (std::find(ids.begin(), ids.end(), verdict.id) == ids.end()) continue;
    if (verdict.status != judge::VerdictStatus::skipped) return {};
    reason = verdict.id + " is skipped: " + verdict.reason;
  }
  return judgement.uncovered.empty() ? reason : std::string();
}

// What most likely made a trial go wrong, in one line.
std::string why(const SuiteResult& result) {
  for (const launch::UnitResult& unit : result.units) {
    if (unit.end == launch::End::done) continue;
    return unit.unit + " ended as " + launch::end_name(unit.end) + ": " + unit.text;
  }
  const judge::Judgement& judgement = result.judgement;
  if (!judgement.uncovered.empty()) return judgement.uncovered.front();
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (verdict.status != judge::VerdictStatus::pass) {
      return verdict.id + " is " + judge::name(verdict.status) + ": " + verdict.reason;
    }
  }
  return {};
}

// A defect must fail its requirement, and the reference nothing and must run everything.
void assess(const SuiteResult& result, const judge::ExitRule& rule, Trial& trial) {
  trial.exit = judge::exit_code(result.judgement, rule);
  trial.failed = report::failed_ids(result.judgement);
  const std::string& catcher = trial.implementation.caught_by;
  const bool caught =
      std::find(trial.failed.begin(), trial.failed.end(), catcher) != trial.failed.end();
  if (catcher.empty() && trial.exit != judge::kExitPass) {
    trial.problem = "must pass, but exits " + std::to_string(trial.exit);
  } else if (!catcher.empty() && trial.exit == judge::kExitError) {
    trial.problem = "could not be judged";
  } else if (!catcher.empty() && !caught) {
    trial.problem = "was not caught by " + catcher;
  }
  if (trial.problem.empty()) return;
  if (trial.exit != judge::kExitError && trial.exit != judge::kExitFail) {
    trial.skipped = unavailable(
        result.judgement, catcher.empty() ? rule.must_run : std::vector<std::string>{catcher});
  }
  if (!trial.skipped.empty()) {
    trial.problem.clear();
    return;
  }
  const std::string cause = why(result);
  if (!cause.empty()) trial.problem += " (" + cause + ")";
}

std::string line_of(const Trial& trial) {
  const launch::ImplementationName& implementation = trial.implementation;
  std::string text = !trial.problem.empty()   ? "WRONG "
                     : !trial.skipped.empty() ? "skip  "
                                              : "ok    ";
  text += implementation.name + ": ";
  if (!trial.problem.empty()) {
    text += trial.problem;
  } else if (!trial.skipped.empty()) {
    text += trial.skipped;
  } else if (implementation.caught_by.empty()) {
    text += "passes";
  } else {
    text += "caught by " + implementation.caught_by + " (" + implementation.source + ")";
  }
  return printable(text) + "\n";
}

// Writes result.json and, if `json`, prints it; the lines for people are out by now.
int report_trials(const std::vector<Trial>& trials, bool json, const fs::path& out) {
  int exit = judge::kExitPass;
  bool caught = false;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Trial& trial : trials) {
    const launch::ImplementationName& implementation = trial.implementation;
    if (!trial.problem.empty()) {
      exit = trial.exit == judge::kExitError || exit == judge::kExitError ? judge::kExitError
                                                                          : judge::kExitFail;
    }
    list.push_back({{"name", implementation.name},
                    {"caught_by", implementation.caught_by},
                    {"source", implementation.source},
                    {"failed", trial.failed},
                    {"exit", trial.exit},
                    {"ok", trial.problem.empty() && trial.skipped.empty()},
                    {"problem", trial.problem},
                    {"skipped", trial.skipped}});
    caught |= !implementation.caught_by.empty() && trial.problem.empty() && trial.skipped.empty();
  }
  if (exit == judge::kExitPass && !caught) {
    exit = fail(judge::kExitNothing, "selftest: no defect could be tried on this platform");
  }
  nlohmann::ordered_json result = {{"schema", "symm-cts/result/1"},
                                   {"verb", "selftest"},
                                   {"exit", exit},
                                   {"implementations", list}};
  const auto dump = [&] {
    return result.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  };
  if (const Status written = write_result(out, dump()); !written) {
    exit = fail(judge::kExitError, written.error());
    result["exit"] = exit;
  }
  if (json) std::fputs(dump().c_str(), stdout);
  return exit;
}

}  // namespace

int selftest(const SelftestOptions& options) {
  const launch::Variables host = launch::read_environment();
  const auto at = find_locations();
  if (!at) return give_up("selftest", options.json, at.error());
  const std::string platform =
      options.placement.platform.empty() ? kDefaultPlatform : options.placement.platform;
  if (platform == kSystem) {
    return fail(judge::kExitUsage,
                "--platform system: selftest runs defects, which could harm other users of a host");
  }
  const auto machine = find_machine(platform, at.value());
  if (!machine) return fail(judge::kExitUsage, machine.error());
  const auto request =
      make_request(machine.value(), options.placement, kRanks, options.seed, at.value(), host);
  if (!request) return fail(judge::kExitUsage, request.error());
  const auto catalogue = load_catalogue(at.value());
  if (!catalogue) return fail(judge::kExitUsage, catalogue.error());
  const auto profile = load_profile(kDefaultProfile, at.value(), ids_of(catalogue.value()));
  if (!profile) return fail(judge::kExitUsage, profile.error());
  const auto scenarios = find_scenarios(profile.value(), machine.value(), at.value());
  if (!scenarios) return fail(judge::kExitUsage, scenarios.error());
  const auto implementations = launch::list_implementations(request.value(), host);
  if (!implementations) return give_up("selftest", options.json, implementations.error());
  const auto selected = select_trials(implementations.value());
  if (std::none_of(selected.begin(), selected.end(),
                   [](const auto& implementation) { return implementation.name == kReference; })) {
    return give_up("selftest", options.json, "the rank program holds no reference");
  }
  const auto units = launch::list_units(request.value(), host);
  if (!units) return give_up("selftest", options.json, units.error());
  if (const Status fits = check_scenarios(profile.value(), units.value()); !fits) {
    return fail(judge::kExitUsage, fits.error());
  }
  const Status consistent = check_catalogue(catalogue.value(), units.value(), judge::judged_ids());
  if (!consistent) return give_up("selftest", options.json, consistent.error());
  const auto held = prepare_output(options.out);
  if (!held) return fail(judge::kExitUsage, held.error());
  const fs::path& out = held.value().path();

  judge::ExitRule rule;
  rule.must_run = profile.value().must_run;
  rule.unknown_counts = true;
  Progress progress(selected.size());
  const auto show = [&](const Trial& trial) {
    if (options.json) return;
    progress.clear();
    std::fputs(line_of(trial).c_str(), stdout);
    std::fflush(stdout);
  };
  std::vector<Trial> trials;
  for (const launch::ImplementationName& implementation : selected) {
    Trial trial;
    trial.implementation = implementation;
    trial.skipped = harmless(implementation, machine.value());
    if (!trial.skipped.empty()) {
      trial.exit = judge::kExitNothing;
      show(trial);
      trials.push_back(std::move(trial));
      continue;
    }
    progress.show(trials.size(), implementation.name);
    Suite suite;
    suite.units = units.value();
    suite.ids = ids_of(suite.units);
    suite.scenarios = scenarios.value();
    suite.again = [&](const std::string& unit, std::uint64_t) {
      RunOptions run;
      run.implementation = implementation.name;
      run.placement = options.placement;
      run.ranks = kRanks;
      run.seed = options.seed;
      return again(run, machine.value(), unit);
    };
    suite.request = request.value();
    suite.request.implementation = implementation.name;
    std::string folder = implementation.name;
    std::replace(folder.begin(), folder.end(), ':', '-');
    suite.request.out = out / folder;
    std::error_code ignored;
    fs::create_directories(suite.request.out, ignored);
    const SuiteResult ended = run_suite(suite, host);
    assess(ended, rule, trial);
    if (ended.stopped) {
      trial.exit = judge::kExitError;
      trial.problem = "was interfered with: " + ended.units.back().text;
    }
    show(trial);
    trials.push_back(std::move(trial));
    if (ended.stopped) break;
  }
  return report_trials(trials, options.json, out);
}

}  // namespace symmcts::cli

#include <cstdio>
#include <filesystem>

#include "harness/cli/again.hpp"
#include "harness/cli/common.hpp"
#include "harness/cli/compare.hpp"
#include "harness/cli/console.hpp"
#include "harness/cli/machine.hpp"
#include "harness/cli/output.hpp"
#include "harness/cli/suite.hpp"
#include "harness/cli/toml_document.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/report/report.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

Result<Repro> load_repro(const std::string& id, const Locations& at) {
  const auto file = find_named(id, at.repros(), "repro");
  if (!file) return Error{file.error()};
  const auto text = read_file(file.value());
  if (!text) return Error{text.error()};
  return parse_repro(text.value(), file.value().string());
}

// The one unit of the report, for one half.
Result<Suite> suite_of(const Repro& repro, const Machine& machine, const Locations& at,
                       const std::vector<launch::UnitName>& units) {
  Suite suite;
  for (const launch::UnitName& unit : units) {
    if (unit.unit == repro.unit) suite.units.push_back(unit);
  }
  if (suite.units.empty()) return Error{repro.id + ": there is no case " + repro.unit};
  suite.ids = repro.requirements;
  if (!repro.scenario.empty()) {
    CertificationProfile profile;
    profile.scenarios[repro.unit] = repro.scenario;
    auto scenarios = find_scenarios(profile, machine, at);
    if (!scenarios) return Error{scenarios.error()};
    suite.scenarios = std::move(scenarios.value());
  }
  return suite;
}

}  // namespace

int repro(const ReproOptions& options) {
  const launch::Variables host = launch::read_environment();
  const auto at = find_locations();
  if (!at) return give_up("repro", options.json, at.error());
  const auto repro = load_repro(options.id, at.value());
  if (!repro) return fail(judge::kExitUsage, repro.error());
  const std::string platform =
      options.placement.platform.empty() ? repro.value().platform : options.placement.platform;
  if (platform == kSystem) {
    return fail(judge::kExitUsage,
                "--platform system: a repro runs a defect, which could harm other users of a host");
  }
  const auto machine = find_machine(platform, at.value());
  if (!machine) return fail(judge::kExitUsage, machine.error());
  const auto home = find_named(repro.value().platform, at.value().platforms(), "platform");
  const bool at_home = home && machine.value().platform == home.value().string();
  const auto request = make_request(machine.value(), options.placement, repro.value().ranks,
                                    options.seed, at.value(), host);
  if (!request) return fail(judge::kExitUsage, request.error());
  const ReproVariant* variant =
      repro.value().find(options.placement.root_ordinal, options.placement.one_visible_gpu);
  if (variant == nullptr) {
    return fail(judge::kExitUsage,
                options.id + ": nothing is published for --root-ordinal " +
                    std::to_string(options.placement.root_ordinal) +
                    (options.placement.one_visible_gpu ? " --one-visible-gpu" : ""));
  }
  const auto units = launch::list_units(request.value(), host);
  if (!units) return give_up("repro", options.json, units.error());
  auto suite = suite_of(repro.value(), machine.value(), at.value(), units.value());
  if (!suite) return fail(judge::kExitUsage, suite.error());
  const auto folder = prepare_output(options.out);
  if (!folder) return fail(judge::kExitUsage, folder.error());
  const fs::path& out = folder.value().path();
  suite.value().again = [&](const std::string&, std::uint64_t) {
    return again(options, machine.value());
  };

  report::ReproReport result;
  result.id = repro.value().id;
  result.title = repro.value().title;
  result.source = repro.value().source;
  Progress progress(2);
  std::vector<std::string> deviations;
  bool error = false, stopped = false;
  const auto run_half = [&](std::size_t index, const std::string& name, const Published& published,
                            report::Report& half) {
    progress.show(index, name + ": " + published.implementation);
    suite.value().request = request.value();
    suite.value().request.rank_args = repro.value().rank_args;
    suite.value().request.implementation = published.implementation;
    suite.value().request.out = out / name;
    std::error_code ignored;
    fs::create_directories(suite.value().request.out, ignored);
    SuiteResult ended = run_suite(suite.value(), host);
    for (std::string& line : differences(name, published, repro.value().requirements, ended)) {
      deviations.push_back(std::move(line));
    }
    error |= has_error(ended.judgement) || ended.stopped;
    stopped = ended.stopped;
    half.verb = "run";
    judge::ExitRule rule;
    rule.unknown_counts = true;
    half.exit = judge::exit_code(ended.judgement, rule);
    half.judgement = std::move(ended.judgement);
  };
  run_half(0, "before", variant->before, result.before);
  if (!stopped) {
    run_half(1, "after", variant->after, result.after);
  } else {
    result.after.verb = "run";
    result.after.exit = judge::kExitError;
    result.after.judgement.notes.push_back("not run: somebody interfered with the first half");
  }

  result.exit = error                ? judge::kExitError
                : deviations.empty() ? judge::kExitPass
                                     : judge::kExitFail;
  if (const Status written = write_result(out, report::to_json(result)); !written) {
    result.exit = fail(judge::kExitError, written.error());
  }
  report::TextOptions text;
  text.colour = stdout_is_terminal();
  std::fputs(options.json ? report::to_json(result).c_str() : report::to_text(result, text).c_str(),
             stdout);
  for (const std::string& line : deviations) fail(0, options.id + ": not as published: " + line);
  if (!deviations.empty() && !at_home) {
    fail(0, options.id + ": published for --platform " + repro.value().platform +
                "; another machine need not show it");
  }
  return result.exit;
}

}  // namespace symmcts::cli

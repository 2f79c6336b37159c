#include <algorithm>
#include <cstdio>

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

namespace symmcts::cli {
namespace {

Status check_implementation(const RunOptions& options, bool software,
                            const std::vector<launch::ImplementationName>& known) {
  std::string names;
  for (const auto& implementation : known) {
    if (implementation.name == options.implementation) {
      if (software || implementation.caught_by.empty()) return {};
      return Error{options.implementation +
                   " is a defect: on a real driver it could harm other users of the host"};
    }
    names += (names.empty() ? "" : ", ") + implementation.name;
  }
  return Error{"no such implementation: " + options.implementation + " (there are: " + names + ")"};
}

// A real machine has no default: what must run there is for its owner to say.
Result<CertificationProfile> profile_of(const RunOptions& options, const Machine& machine,
                                        const Locations& at,
                                        const std::vector<Requirement>& catalogue) {
  if (options.profile.empty() && !machine.software) return CertificationProfile{};
  return load_profile(options.profile.empty() ? kDefaultProfile : options.profile, at,
                      ids_of(catalogue));
}

// Of what was selected, what the profile demands.
std::vector<std::string> demanded(const CertificationProfile& profile,
                                  const std::vector<std::string>& selected) {
  std::vector<std::string> ids;
  for (const std::string& id : profile.must_run) {
    if (std::find(selected.begin(), selected.end(), id) != selected.end()) ids.push_back(id);
  }
  return ids;
}

}  // namespace

int run(const RunOptions& options) {
  const launch::Variables host = launch::read_environment();
  const std::string platform =
      options.placement.platform.empty() ? kDefaultPlatform : options.placement.platform;
  if (!options.scenario.empty() && platform == kSystem) {
    return fail(judge::kExitUsage,
                "--scenario " + options.scenario + ": a real machine knows no scenarios");
  }
  const auto at = find_locations(platform != kSystem);
  if (!at) return give_up("run", options.json, at.error());
  const auto machine = find_machine(platform, at.value());
  if (!machine) return fail(judge::kExitUsage, machine.error());
  auto request = make_request(machine.value(), options.placement, options.ranks, options.seed,
                              at.value(), host);
  if (!request) return fail(judge::kExitUsage, request.error());
  const auto implementations = launch::list_implementations(request.value(), host);
  if (!implementations) return give_up("run", options.json, implementations.error());
  const Status known =
      check_implementation(options, machine.value().software, implementations.value());
  if (!known) return fail(judge::kExitUsage, known.error());
  const auto catalogue = load_catalogue(at.value());
  if (!catalogue) return fail(judge::kExitUsage, catalogue.error());
  const auto profile = profile_of(options, machine.value(), at.value(), catalogue.value());
  if (!profile) return fail(judge::kExitUsage, profile.error());
  const auto scenarios = find_scenarios(profile.value(), machine.value(), at.value());
  if (!scenarios) return fail(judge::kExitUsage, scenarios.error());
  std::filesystem::path scenario;
  if (!options.scenario.empty()) {
    const auto found = find_scenario(options.scenario, at.value(), request.value(), host);
    if (!found) return fail(judge::kExitUsage, found.error());
    scenario = found.value();
  }

  const auto units = launch::list_units(request.value(), host);
  if (!units) return give_up("run", options.json, units.error());
  if (const Status fits = check_scenarios(profile.value(), units.value()); !fits) {
    return fail(judge::kExitUsage, fits.error());
  }
  const Status consistent = check_catalogue(catalogue.value(), units.value(), judge::judged_ids());
  if (!consistent) return give_up("run", options.json, consistent.error());

  Suite suite;
  suite.units = select_units(units.value(), options.filter);
  suite.ids = ids_of(suite.units);
  suite.scenarios = scenarios.value();
  if (!scenario.empty()) {
    for (const launch::UnitName& unit : suite.units) suite.scenarios[unit.unit] = scenario;
  }
  suite.again = [&](const std::string& unit, std::uint64_t seed) {
    RunOptions one = options;
    one.seed = seed;
    return again(one, machine.value(), unit);
  };
  if (!options.seeds.empty()) suite.seeds = read_seeds(options.seeds).value();
  report::Report result;
  result.verb = "run";
  if (suite.units.empty()) {
    fail(judge::kExitNothing, "--filter " + options.filter + " selects no case");
    result.exit = judge::kExitNothing;
    if (options.json) std::fputs(report::to_json(result).c_str(), stdout);
    return result.exit;
  }
  suite.request = std::move(request.value());
  suite.request.implementation = options.implementation;
  suite.request.race_check = options.race_check;
  const auto out = prepare_output(options.out);
  if (!out) return fail(judge::kExitUsage, out.error());
  suite.request.out = out.value().path();

  Progress progress(suite.units.size() * (suite.seeds ? suite.seeds->count() : 1));
  suite.progress = [&](std::size_t done, const std::string& unit) { progress.show(done, unit); };
  SuiteResult ended = run_suite(suite, host);
  judge::ExitRule rule;
  rule.must_run = demanded(profile.value(), suite.ids);
  rule.unknown_counts = true;
  result.exit = judge::exit_code(ended.judgement, rule);
  if (result.exit == judge::kExitPass && ended.stopped) result.exit = judge::kExitIncomplete;
  result.judgement = std::move(ended.judgement);
  return print_result(std::move(result), suite.request.out, options.json);
}

}  // namespace symmcts::cli

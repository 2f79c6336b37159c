#include "harness/cli/suite.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "harness/evidence/load.hpp"
#include "harness/launch/collector.hpp"
#include "harness/launch/unit.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

judge::Judgement unreadable(const std::vector<std::string>& ids, const std::string& reason,
                            const std::string& again) {
  judge::Judgement judgement;
  for (const std::string& id : ids) {
    judge::Verdict verdict = judge::unknown_verdict(id);
    verdict.status = judge::VerdictStatus::error;
    verdict.reason = reason;
    verdict.again = again;
    judgement.verdicts.push_back(std::move(verdict));
  }
  return judgement;
}

// What people are told of a case that runs once a seed.
std::string name_of(const Suite& suite, const std::string& unit, std::uint64_t seed) {
  return suite.seeds ? unit + " with seed " + std::to_string(seed) : unit;
}

judge::UnitJudgement judge_unit(const Suite& suite, const launch::UnitRequest& request,
                                const launch::UnitResult& result) {
  judge::UnitJudgement out;
  out.unit = name_of(suite, result.unit, request.seed);
  out.ids = result.ids;
  judge::JudgeOptions options;
  options.ids = suite.ids;
  options.again = suite.again(result.unit, request.seed);
  const fs::path folder = request.out / "evidence" / launch::folder_of(result.unit);
  const auto set = evidence::load_unit(folder.string());
  if (set) out.judgement = judge::judge(set.value(), options);
  // Whatever the evidence says: a unit that ended in an error is one.
  const bool error = result.end == launch::End::error;
  if (!set || (error && !has_error(out.judgement))) {
    std::vector<std::string> ids = result.ids;
    std::erase_if(ids, [&](const std::string& id) {
      return std::find(suite.ids.begin(), suite.ids.end(), id) == suite.ids.end();
    });
    out.judgement = unreadable(ids, error ? result.text : set.error(), options.again);
  }
  return out;
}

// Is it part of a finding already?
bool is_told(const judge::Judgement& judgement, const std::string& text) {
  const auto tells = [&](const std::string& line) { return line.find(text) != std::string::npos; };
  return std::any_of(judgement.uncovered.begin(), judgement.uncovered.end(), tells) ||
         std::any_of(judgement.verdicts.begin(), judgement.verdicts.end(),
                     [&](const judge::Verdict& verdict) { return tells(verdict.reason); });
}

}  // namespace

bool has_error(const judge::Judgement& judgement) {
  return std::any_of(
      judgement.verdicts.begin(), judgement.verdicts.end(),
      [](const judge::Verdict& verdict) { return verdict.status == judge::VerdictStatus::error; });
}

std::string folder_of_seed(std::uint64_t seed) { return "seed-" + std::to_string(seed); }

SuiteResult run_suite(const Suite& suite, const launch::Variables& host) {
  SuiteResult result;
  std::vector<judge::UnitJudgement> judged;
  const SeedRange seeds = suite.seeds.value_or(SeedRange{suite.request.seed, suite.request.seed});
  for (std::uint64_t i = 0; i < seeds.count() && !result.stopped; ++i) {
    for (const launch::UnitName& unit : suite.units) {
      launch::UnitRequest request = suite.request;
      request.seed = seeds.first + i;
      request.unit = unit.unit;
      request.ids = unit.ids;
      if (suite.seeds) request.out /= folder_of_seed(request.seed);
      if (suite.progress) {
        suite.progress(result.units.size(), name_of(suite, unit.unit, request.seed));
      }
      const auto scenario = suite.scenarios.find(unit.unit);
      if (scenario != suite.scenarios.end()) request.scenario = scenario->second;
      result.units.push_back(launch::run_unit(request, host));
      judged.push_back(judge_unit(suite, request, result.units.back()));
      if (result.units.back().stop) {
        result.stopped = true;
        break;
      }
    }
  }
  result.judgement = judged.size() == 1 ? judged.front().judgement : judge::merge(judged);
  for (const launch::UnitResult& unit : result.units) {
    if (unit.end == launch::End::done || is_told(result.judgement, unit.text)) continue;
    result.judgement.notes.push_back(unit.unit + " ended as " + launch::end_name(unit.end) + ": " +
                                     unit.text);
  }
  const std::uint64_t planned = suite.units.size() * seeds.count();
  if (result.stopped && result.units.size() < planned) {
    result.judgement.notes.push_back(
        "stopped by that: " + std::to_string(planned - result.units.size()) +
        " more cases were not run");
  }
  return result;
}

std::vector<launch::UnitName> select_units(const std::vector<launch::UnitName>& units,
                                           const std::string& filter) {
  std::vector<launch::UnitName> selected;
  const auto matches = [&](const std::string& name) {
    return filter.empty() || fnmatch(filter.c_str(), name.c_str(), 0) == 0;
  };
  for (const launch::UnitName& unit : units) {
    if (matches(unit.unit) || std::any_of(unit.ids.begin(), unit.ids.end(), matches)) {
      selected.push_back(unit);
    }
  }
  return selected;
}

std::vector<launch::ImplementationName> select_trials(
    const std::vector<launch::ImplementationName>& implementations) {
  std::vector<launch::ImplementationName> selected;
  for (const launch::ImplementationName& implementation : implementations) {
    if (implementation.name == kReference || !implementation.caught_by.empty()) {
      selected.push_back(implementation);
    }
  }
  return selected;
}

std::vector<std::string> ids_of(const std::vector<launch::UnitName>& units) {
  std::set<std::string> ids;
  for (const launch::UnitName& unit : units) ids.insert(unit.ids.begin(), unit.ids.end());
  return {ids.begin(), ids.end()};
}

}  // namespace symmcts::cli

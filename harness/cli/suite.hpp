#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/seeds.hpp"
#include "harness/judge/judge.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/listing.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/unit_result.hpp"
#include "harness/support/result.hpp"

namespace symmcts::cli {

// Units to be run one after the other with one implementation.
struct Suite {
  launch::UnitRequest request;  // `implementation` and `out` set
  std::vector<launch::UnitName> units;
  std::map<std::string, std::filesystem::path> scenarios;  // unit -> file
  std::vector<std::string> ids;                            // that are judged
  // Every unit once with each of these, in folders of their own; empty: once with the request's.
  std::optional<SeedRange> seeds;
  // The command that shows a unit's verdicts again, with a seed.
  std::function<std::string(const std::string& unit, std::uint64_t seed)> again;
  // Called before each unit: how many are done, and the name. May be empty.
  std::function<void(std::size_t done, const std::string& unit)> progress;
};

struct SuiteResult {
  judge::Judgement judgement;  // merged; of a single unit: its own
  std::vector<launch::UnitResult> units;
  bool stopped = false;  // somebody interfered: the units after the last one did not run
};

// The folder of the output folder that a run with one of several seeds writes into.
std::string folder_of_seed(std::uint64_t seed);

// Runs and judges. A unit that ended otherwise than by verdicts is noted in the judgement. Blocks.
SuiteResult run_suite(const Suite& suite, const launch::Variables& host);

// Whether a verdict is `error`.
bool has_error(const judge::Judgement& judgement);

// Units that `filter` selects: a glob over names and over requirement ids; empty: all.
std::vector<launch::UnitName> select_units(const std::vector<launch::UnitName>& units,
                                           const std::string& filter);

// The built-in implementation that must pass.
inline constexpr char kReference[] = "reference";

// What `selftest` knows the outcome of: the reference and the defects. Implementations that a user
// has added are for `run`.
std::vector<launch::ImplementationName> select_trials(
    const std::vector<launch::ImplementationName>& implementations);

// All ids that the units exercise, sorted.
std::vector<std::string> ids_of(const std::vector<launch::UnitName>& units);

}  // namespace symmcts::cli

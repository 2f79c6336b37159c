// symmcts: the command. This file holds the command line and nothing else.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "harness/cli/console.hpp"
#include "harness/cli/seeds.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/judge/exit_code.hpp"

namespace symmcts::cli {
namespace {

// CLI11 would wrap a negative number and cut a long one. Returns what is wrong; empty: nothing.
std::string seed_problem(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stop == end) return {};
  return text + ": must be a whole number from 0 to 18446744073709551615";
}

std::string seeds_problem(const std::string& text) {
  const auto range = read_seeds(text);
  return range ? std::string() : range.error();
}

// Less than the least would measure the host's load. CLI11's own range lets `nan` through.
std::string seconds_problem(const std::string& text) {
  constexpr double kLeast = 1, kMost = 1e6;
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && seconds >= kLeast && seconds <= kMost) return {};
  return text + ": must be a number of seconds from 1 to 1000000";
}

// What a script gives that lost its variable: no default may take its place.
std::string empty_problem(const std::string& text) {
  return text.empty() ? "must not be empty" : std::string();
}

// A closed standard stream must not become the number of a file that is opened later, which would
// then be printed into.
void reserve_standard_streams() {
  int fd = open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = dup(fd);
  if (fd >= 0) close(fd);
}

void add_placement(CLI::App& app, Placement& placement) {
  app.add_option("--platform", placement.platform, "platform profile, by name or file, or `system`")
      ->check(empty_problem);
  app.add_option("--launcher", placement.launcher, "fork (default) or mpirun");
  app.add_option("--launch-arg", placement.launch_args, "an argument for the launcher; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--root-ordinal", placement.root_ordinal, "device ordinal of rank 0");
  app.add_flag("--one-visible-gpu", placement.one_visible_gpu, "each rank sees one GPU only");
  app.add_option("--stall", placement.stall_seconds, "seconds without progress until a case hangs")
      ->check(seconds_problem);
  app.add_option("--deadline", placement.unit_seconds, "seconds that one case may take")
      ->check(seconds_problem);
}

template <typename Options>
void add_output(CLI::App& app, Options& options) {
  app.add_option("--seed", options.seed, "seed of the schedule")->check(seed_problem);
  app.add_option("--out", options.out, "output folder (default symmcts-out)");
  app.add_flag("--json", options.json, "print the result as JSON");
}

struct Verbs {
  RunOptions run;
  CheckOptions check;
  ReproOptions repro;
  SelftestOptions selftest;
  ListOptions list;
  std::function<int()> chosen;
};

void add_run(CLI::App& app, Verbs& verbs) {
  CLI::App* run_verb = app.add_subcommand("run", "certify an implementation");
  run_verb->add_option("--impl", verbs.run.implementation, "implementation (list implementations)")
      ->check(empty_problem);
  run_verb->add_option("--ranks", verbs.run.ranks, "number of ranks (default 2)");
  run_verb->add_option("--profile", verbs.run.profile, "what must run (list profiles)")
      ->check(empty_problem);
  run_verb->add_option("--filter", verbs.run.filter, "cases, as a glob over names and requirements")
      ->check(empty_problem);
  run_verb
      ->add_option("--scenario", verbs.run.scenario,
                   "what goes wrong while a case runs: a name of conformance/scenarios, or a file")
      ->check(empty_problem);
  add_placement(*run_verb, verbs.run.placement);
  run_verb->add_flag("--allow-multicast", verbs.run.placement.allow_multicast,
                     "permit multicast on a real driver");
  run_verb->add_flag("!--no-race-check", verbs.run.race_check,
                     "do not look for races; then nothing can pass SM-DATA-3");
  add_output(*run_verb, verbs.run);
  run_verb->add_option("--seeds", verbs.run.seeds, "A..B: once with each seed from A to B")
      ->check(seeds_problem)
      ->excludes("--seed");
  run_verb->callback([&verbs] { verbs.chosen = [&verbs] { return run(verbs.run); }; });
}

void add_check(CLI::App& app, Verbs& verbs) {
  CLI::App* check_verb = app.add_subcommand("check", "judge evidence or profiler files");
  check_verb->add_option("files", verbs.check.files, "evidence or Kineto files, one a rank")
      ->required();
  check_verb->add_option("--rank", verbs.check.ranks, "FILE=N: the file is rank N's; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  check_verb->add_option("--require", verbs.check.required, "id that must be judged; repeatable")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  check_verb->add_flag("--json", verbs.check.json, "print the result as JSON");
  check_verb->callback([&verbs] { verbs.chosen = [&verbs] { return check(verbs.check); }; });
}

void add_repro(CLI::App& app, Verbs& verbs) {
  CLI::App* repro_verb = app.add_subcommand("repro", "a public bug, before and after its fix");
  repro_verb->add_option("id", verbs.repro.id, "the report (list repros)")->required();
  add_placement(*repro_verb, verbs.repro.placement);
  add_output(*repro_verb, verbs.repro);
  repro_verb->callback([&verbs] { verbs.chosen = [&verbs] { return repro(verbs.repro); }; });
}

void add_selftest(CLI::App& app, Verbs& verbs) {
  CLI::App* selftest_verb =
      app.add_subcommand("selftest", "every defect must be caught, the reference must pass");
  add_placement(*selftest_verb, verbs.selftest.placement);
  add_output(*selftest_verb, verbs.selftest);
  selftest_verb->callback(
      [&verbs] { verbs.chosen = [&verbs] { return selftest(verbs.selftest); }; });
}

void add_list(CLI::App& app, Verbs& verbs) {
  CLI::App* list_verb = app.add_subcommand("list", "what there is, one item a line");
  list_verb
      ->add_option("what", verbs.list.what,
                   "requirements, profiles, platforms, implementations, defects, repros or facts")
      ->required();
  list_verb->add_flag("--platform", verbs.list.platform,
                      "facts: how the software platform stands to each");
  list_verb->callback([&verbs] { verbs.chosen = [&verbs] { return list(verbs.list); }; });
}

int main_of(int argc, char** argv) {
  CLI::App app("Certifies implementations of CUDA multicast symmetric memory.", "symmcts");
  app.set_version_flag("--version", "symmcts " SYMMCTS_VERSION);
  app.require_subcommand(1);
  Verbs verbs;
  add_run(app, verbs);
  add_check(app, verbs);
  add_repro(app, verbs);
  add_selftest(app, verbs);
  add_list(app, verbs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(judge::kExitUsage, error.what());
  }
  return verbs.chosen();
}

}  // namespace
}  // namespace symmcts::cli

int main(int argc, char** argv) {
  using namespace symmcts;
  cli::reserve_standard_streams();
  try {
    return cli::finish_stdout(cli::main_of(argc, argv));
  } catch (const std::exception& error) {  // nothing of ours throws; memory may run out
    return cli::fail(judge::kExitError, error.what());
  }
}

#include "tests/fuzz/rank_process.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/fuzz/rank.hpp"

namespace symmcts::fuzz {
namespace {

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

void set_environment(const Plan& plan, const Place& place) {
  for (const char* name :
       {"SYMMCTS_MACHINE", "SYMMCTS_HOST", "SYMMCTS_TRACE", "CUDA_INJECTION64_PATH"}) {
    unsetenv(name);
  }
  set("SYMMCTS_PLATFORM", plan.profile);
  set("SYMMCTS_RANK", std::to_string(place.rank));
  set("SYMMCTS_SEED", std::to_string(place.seed));
  set("SYMMCTS_SCENARIO", (place.folder / "scenario.toml").string());
  set("CUDA_VISIBLE_DEVICES", plan.fabric ? "0,1" : "0,1,2");
  if (plan.named) set("SYMMCTS_MACHINE", (place.folder / "machine" / "socket").string());
}

}  // namespace

void become_rank(const Options& options, const Plan& plan, const Place& place, Page& page) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  signal(SIGINT, SIG_IGN);  // of a terminal: the parent ends us
  signal(SIGTERM, SIG_DFL);
  dup2(place.errors, STDERR_FILENO);
  set_environment(plan, place);
  RankTask task;
  task.library = options.library;
  task.seed = place.seed;
  task.steps = plan.steps;
  task.rank = place.rank;
  task.ranks = plan.ranks;
  task.link = place.link;
  task.slots = plan.slots;
  task.fabric = plan.fabric;
  task.managed = plan.managed;
  task.stands_still = plan.stands_still;
  task.pretends = options.pretends;
  if (!options.transcript.empty()) {
    task.transcript =
        std::fopen((options.transcript + "." + std::to_string(place.rank)).c_str(), "ae");
  }
  const int code = run_rank(task, page);
  if (task.transcript != nullptr) std::fclose(task.transcript);
  std::exit(code);  // the platform says then what is left
}

}  // namespace symmcts::fuzz

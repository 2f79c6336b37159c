#include "harness/launch/classify.hpp"

#include <signal.h>

#include <cstdio>
#include <fstream>

#include "harness/launch/environment.hpp"

namespace symmcts::launch {
namespace {

constexpr char kLauncher[] = "mpirun";  // as commands.cpp names it
constexpr int kRankRefused = 3;         // exit code of symmcts-rank for an infrastructure error
constexpr int kShellSignal = 128;       // launchers report signal N as 128 + N

// What mpirun --tag-output puts before a line of a rank's stderr, as in "[1,0]<stderr>:".
constexpr char kRankTag[] = "<stderr>:";

// The last line that says something, without what differs from run to run. In a launcher's stderr
// the ranks' own lines say more than the launcher's: `of_ranks` looks only at those.
std::string last_line(const std::filesystem::path& file, const RunDirectory& directory,
                      bool of_ranks) {
  std::ifstream in(file);
  in.seekg(0, std::ios::end);
  const auto size = static_cast<long long>(in.tellg());
  in.seekg(size > 8192 ? size - 8192 : 0);
  std::string line, last;
  while (std::getline(in, line)) {
    if (of_ranks) {
      const auto tag = line.find(kRankTag);
      if (tag == std::string::npos) continue;
      line.erase(0, tag + sizeof(kRankTag) - 1);
    }
    if (line.find_first_not_of(" \t\r-=") != std::string::npos) last = line;
  }
  const std::string folder = directory.path().string();
  for (auto at = last.find(folder); at != std::string::npos; at = last.find(folder)) {
    last.replace(at, folder.size(), "<run>");
  }
  return last.substr(0, 300);
}

std::filesystem::path stderr_of(const Program& program, const RunDirectory& directory) {
  const std::string file =
      program.rank < 0 ? program.name : raw_evidence(directory, program.rank).stem().string();
  return directory.host() / (file + ".err");
}

std::string with_last_line(std::string text, const Program& program,
                           const RunDirectory& directory) {
  const auto file = stderr_of(program, directory);
  std::string line = last_line(file, directory, program.name == kLauncher);
  if (line.empty()) line = last_line(file, directory, false);
  return line.empty() ? text : text + ": " + line;
}

std::string in_phase(const UnitResult& result, int rank) {
  for (const RankState& state : result.ranks) {
    if (state.rank == rank && !state.phase.empty()) return " in phase " + state.phase;
  }
  return {};
}

// mpirun names the first rank that ended badly, as "process rank N" or as "Process name:
// [[J,K],N]", and gives the exit code or 128 + signal of that rank as its own. Turns that into what
// fork would have seen.
void split_launcher_exit(const RunDirectory& directory, int vanished, UnitResult& result) {
  Program launcher = result.programs.back();
  if (launcher.name != kLauncher || !launcher.ended || !launcher.exit.known ||
      launcher.exit.signaled || launcher.exit.value == 0) {
    return;
  }
  int culprit = -1;
  std::ifstream in(stderr_of(launcher, directory));
  for (std::string line; culprit < 0 && std::getline(in, line);) {
    auto at = line.find("process rank ");
    if (at != std::string::npos) std::sscanf(line.c_str() + at, "process rank %d", &culprit);
    at = line.find("Process name: [[");
    if (at != std::string::npos) {
      std::sscanf(line.c_str() + at, "Process name: [[%*d,%*d],%d]", &culprit);
    }
  }
  for (const RankState& state : result.ranks) {
    if (culprit < 0 && state.header && !state.footer) culprit = state.rank;
  }
  if (culprit < 0) culprit = vanished;
  // A code without a name is the launcher's own, a signal without a name some rank's.
  if (culprit < 0 && launcher.exit.value <= kShellSignal) return;
  Program rank{"rank " + std::to_string(culprit), culprit, -1, true, launcher.exit};
  if (culprit < 0) rank.name = "a rank";
  if (rank.exit.value > kShellSignal) {
    rank.exit.signaled = true;
    rank.exit.value -= kShellSignal;
  }
  result.programs.push_back(rank);
}

bool started(const UnitResult& result, const Program& program) {
  for (const RankState& state : result.ranks) {
    if (state.header && (program.rank < 0 || state.rank == program.rank)) return true;
  }
  return false;
}

// The most telling end among the programs: a signal before a crash code before a refusal.
bool classify_exits(const RunDirectory& directory, UnitResult& result) {
  const Program* worst = nullptr;
  int weight = 0;
  for (const Program& program : result.programs) {
    if (program.name == "broker" || !program.ended || !program.exit.known) continue;
    int w = 0;
    if (program.exit.signaled) {
      w = 4;
    } else if (program.exit.value != 0) {
      w = program.exit.value == kRankRefused || !started(result, program) ? 2 : 3;
    }
    // What is known of a rank says more than its launcher's exit.
    if (w > weight || (w > 0 && w >= weight && worst->name == kLauncher)) {
      weight = w;
      worst = &program;
    }
  }
  if (worst == nullptr) return false;
  result.text = worst->name + " " + describe(worst->exit) + in_phase(result, worst->rank);
  result.stop = worst->exit.signaled && worst->exit.value == SIGKILL;
  const bool launcher_killed = worst->name == kLauncher && worst->exit.signaled;
  result.end = weight == 2 || launcher_killed ? End::error : End::crash;
  if (!worst->exit.signaled) {
    const Program& speaker = worst->pid < 0 ? result.programs[result.programs.size() - 2] : *worst;
    result.text = with_last_line(result.text, speaker, directory);
  }
  return true;
}

std::string incomplete(const RankState& state) {
  if (!state.header) return "left no evidence";
  if (!state.problem.empty()) return "left garbage in its evidence: " + state.problem;
  if (!state.footer) return "left evidence without its last line";
  if (!state.verdict) return "ended without the verdict of the case";
  return {};
}

}  // namespace

void classify(const Seen& seen, const UnitRequest& request, const RunDirectory& directory,
              UnitResult& result) {
  result.end = End::error;
  if (seen.reaper_lost) {
    result.text = "the reaper was killed; the supervisor ended the unit in its place";
    result.stop = true;
    return;
  }
  if (!seen.problem.empty()) {
    result.text = seen.problem;
    return;
  }
  for (const Program& program : result.programs) {
    if (!seen.broker_died || program.name != "broker") continue;
    result.text = with_last_line("the broker " + describe(program.exit) + " before the ranks ended",
                                 program, directory);
    result.stop = program.exit.signaled;
    return;
  }
  if (!seen.hang.empty()) {
    result.end = End::hang;
    result.text = seen.hang;
    return;
  }
  if (request.launcher == Launcher::mpirun) split_launcher_exit(directory, seen.vanished, result);
  if (classify_exits(directory, result)) return;
  if (seen.vanished >= 0) {
    result.end = End::crash;
    result.text = "rank " + std::to_string(seen.vanished) + " died" +
                  in_phase(result, seen.vanished) + " and mpirun did not notice";
    result.stop = true;
    return;
  }
  for (const RankState& state : result.ranks) {
    const std::string what = incomplete(state);
    if (what.empty()) continue;
    result.text = "rank " + std::to_string(state.rank) + " " + what;
    return;
  }
  result.end = End::done;
}

}  // namespace symmcts::launch

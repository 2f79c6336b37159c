#include "tests/fuzz/round.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/rank_process.hpp"
#include "tests/fuzz/round_processes.hpp"

namespace symmcts::fuzz {
namespace {

volatile sig_atomic_t caught = 0;

void kill_all_children() {
  const std::string self = std::to_string(getpid());
  std::ifstream children("/proc/self/task/" + self + "/children");
  for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
}

}  // namespace

bool Round::prepare() {
  if (folder_.path().empty()) return false;
  std::ofstream(folder_.path() / "scenario.toml")
      << "[faults]\nmulticast_slots = " << plan_.slots << "\n";
  std::filesystem::create_directory(folder_.path() / "machine");
  UniqueFd writer;
  std::array<int, 2> link{};
  if (!errors_.open(writer) ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link.data()) != 0) {
    return false;
  }
  const std::array<UniqueFd, 2> ends = {UniqueFd(link[0]), UniqueFd(link[1])};
  ranks_.resize(static_cast<std::size_t>(plan_.ranks));
  for (int rank = 0; rank < plan_.ranks; ++rank) start(rank, ends, writer.get());
  return true;
}

void Round::start(int rank, const std::array<UniqueFd, 2>& ends, int errors) {
  Rank& entry = ranks_[static_cast<std::size_t>(rank)];
  entry.page = make_page();
  std::fflush(nullptr);
  entry.pid = fork();
  if (entry.pid != 0) return;
  close(ends[static_cast<std::size_t>(1 - rank)].get());
  const Place place{folder_.path(), seed_, rank, ends[static_cast<std::size_t>(rank)].get(),
                    errors};
  become_rank(options_, plan_, place, *entry.page);
}

Outcome Round::play(Tally& tally) {
  if (!prepare()) {
    complain("cannot start: " + std::string(std::strerror(errno)));
  } else {
    watch();
  }
  if (interrupted() == 0) check_end();
  ++tally.rounds;
  for (const Rank& rank : ranks_) tally.steps += rank.page->steps.load();
  tally.kills += kills_;
  tally.standstills += standstills_;
  if (interrupted() != 0) return Outcome::interrupted;
  if (wrong_.empty()) return Outcome::passed;
  std::fprintf(stderr, "fuzz: seed %llu: %s\n", static_cast<unsigned long long>(seed_),
               plan_.text().c_str());
  for (const Rank& rank : ranks_) {
    std::fprintf(stderr, "last calls of rank %d:\n%s", static_cast<int>(&rank - ranks_.data()),
                 last_lines(*rank.page).c_str());
  }
  std::fprintf(stderr, "what its processes said:\n%s", errors_.text().c_str());
  for (const std::string& what : wrong_) std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  return Outcome::failed;
}

void Round::check_end() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (rank.killed || (WIFEXITED(rank.status) && WEXITSTATUS(rank.status) == 0)) continue;
    complain("rank " + std::to_string(i) +
             (WIFSIGNALED(rank.status)
                  ? " was killed by signal " + std::to_string(WTERMSIG(rank.status))
                  : " ended with " + std::to_string(WEXITSTATUS(rank.status))));
  }
  if (errors_.has("left at exit")) complain("the platform says that something was left at exit");
  if (plan_.stands_still && standstills_ == 0) complain("no standstill was named");
  if (!folder_.path().empty() && !std::filesystem::is_empty(folder_.path() / "machine")) {
    complain("the machine has left something in its folder");
  }
}

void Round::end_everything() {
  for (Rank& rank : ranks_) {
    if (rank.pid > 0 && !rank.ended) kill(rank.pid, SIGKILL);
  }
  if (!wrong_.empty()) kill_all_children();  // a broker that should have ended with its last client
  while (!childless_) {
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) childless_ = true;
  }
  for (Rank& rank : ranks_) drop_page(rank.page);
}

Outcome play_round(const Options& options, std::uint64_t seed, Tally& tally) {
  return Round(options, seed).play(tally);
}

void catch_interrupts() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

int interrupted() { return caught; }

}  // namespace symmcts::fuzz

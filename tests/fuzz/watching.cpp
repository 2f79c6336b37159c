// A round's parent: what it notices of its processes while they run.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "tests/fuzz/round_processes.hpp"

namespace symmcts::fuzz {
namespace {

constexpr int kLookMs = 10;

}  // namespace

// Until all its processes have ended, the broker too.
void Round::watch() {
  while (!childless_ && interrupted() == 0) {
    pollfd polled{errors_.fd(), POLLIN, 0};
    poll(&polled, 1, kLookMs);
    errors_.read();
    reap();
    bool all_ended = true;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      look_at(ranks_[i], static_cast<int>(i));
      all_ended = all_ended && ranks_[i].ended;
    }
    if (childless_ || !all_ended || !impatient_since(last_end_)) continue;
    complain("the machine has not ended with its last rank");
    break;
  }
  errors_.read();
}

void Round::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    bool known = false;
    for (Rank& rank : ranks_) {
      if (rank.pid != pid) continue;
      known = rank.ended = true;
      rank.status = status;
      last_end_ = Clock::now();
    }
    // Who is not ours by birth is a broker, left to us by the rank that started it. One that its
    // rank has never spoken to ends with a failure.
    const bool fine = kills_ == 0 ? status == 0 : WIFEXITED(status);
    if (!known && !fine) complain("the broker ended with status " + std::to_string(status));
  }
  childless_ = pid < 0 && errno == ECHILD;
}

void Round::kill_rank(Rank& rank) {
  kill(rank.pid, SIGKILL);
  rank.killed = true;
}

void Round::look_at(Rank& rank, int number) {
  if (rank.ended || rank.killed) return;
  const std::uint64_t lines = rank.page->lines.load();
  if (number == plan_.victim && lines >= plan_.killed_after) {
    kill_rank(rank);
    ++kills_;
    return;
  }
  const auto now = Clock::now();
  if (lines != rank.seen) {
    rank.seen = lines;
    rank.since = now;
    return;
  }
  // It may stand still on purpose, or because its peer was killed in what both did together.
  const bool may = plan_.stands_still ||
                   (plan_.victim >= 0 && ranks_[static_cast<std::size_t>(plan_.victim)].killed);
  if (may && errors_.stands_still(number, rank.page->waits_in)) {
    kill_rank(rank);
    ++standstills_;
    return;
  }
  if (!impatient_since(rank.since)) return;
  complain("rank " + std::to_string(number) + " hangs" +
           (may ? ", and the platform has not said why" : ""));
  kill_rank(rank);
}

}  // namespace symmcts::fuzz

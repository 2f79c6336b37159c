#include "harness/launch/reaper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/launch/reaper_process.hpp"

namespace symmcts::launch {
namespace {

using std::chrono::milliseconds;

// How long the supervisor waits for an answer of the reaper before it does the work itself: longer
// than the reaper tries to kill, and than a host with too much to do keeps it waiting. A reaper
// that was killed shows at once, by the end of its socket.
constexpr milliseconds kAnswerTime{60000};
constexpr milliseconds kStartTime{60000};
constexpr auto kKillTime = std::chrono::seconds(5);

}  // namespace

std::string describe(const Exit& exit) {
  if (!exit.known) return "was ended by the supervisor";
  if (!exit.signaled) return "exited with code " + std::to_string(exit.value);
  const char* name = sigabbrev_np(exit.value);
  return "was killed by signal " + std::to_string(exit.value) +
         (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

Result<std::unique_ptr<Reaper>> Reaper::start(const RunDirectory& directory,
                                              std::vector<Command> commands) {
  std::unique_ptr<Reaper> reaper(new Reaper(directory, std::move(commands)));
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    reaper->finished_ = true;
    return Error{"socketpair: " + std::string(std::strerror(errno))};
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  reaper->spare_ = descendants(getpid());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    run_reaper(pair[1], parent, reaper->directory_, reaper->commands_);
  }
  const int fork_error = errno;
  close(pair[1]);
  reaper->socket_ = pair[0];
  reaper->pid_ = pid;
  if (pid < 0) {
    reaper->finished_ = true;
    close(pair[0]);
    return Error{"fork: " + std::string(std::strerror(fork_error))};
  }
  const std::optional<Report> ready = reaper->wait_for(Report::ready, kStartTime);
  if (ready && ready->value == 0) return reaper;
  if (ready) {
    waitpid(pid, nullptr, 0);
    close(pair[0]);
    reaper->finished_ = true;
    return Error{"mkdir " + directory.path().string() + ": " + std::strerror(ready->value)};
  }
  const Status undone = reaper->finish();
  return Error{"the reaper did not start" + (undone ? std::string() : "; " + undone.error())};
}

Reaper::~Reaper() { (void)finish(); }

void Reaper::order(Order::Kind kind, std::int32_t command) {
  if (lost_) return;
  const Order packet{kind, command};
  // A full buffer means a reaper that has stopped reading: as good as dead.
  if (send(socket_, &packet, sizeof(packet), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(packet)) lose();
}

void Reaper::spawn(std::size_t command) { order(Order::spawn, static_cast<std::int32_t>(command)); }

void Reaper::terminate() { order(Order::terminate); }

std::optional<Report> Reaper::wait(milliseconds patience) {
  if (lost_) return std::nullopt;
  pollfd fd{socket_, POLLIN, 0};
  const int ready = poll(&fd, 1, static_cast<int>(patience.count()));
  if (ready <= 0) return std::nullopt;
  Report report{};
  if (recv(socket_, &report, sizeof(report), 0) == sizeof(report)) return report;
  lose();
  return std::nullopt;
}

std::optional<Report> Reaper::wait_for(Report::Kind kind, milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!lost_ && Clock::now() < deadline) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
    const std::optional<Report> report = wait(left + milliseconds(1));
    if (report && report->kind == kind) return report;
  }
  return std::nullopt;
}

// The reaper is dead, or must be: from here on the supervisor does its work.
void Reaper::lose() {
  if (lost_) return;
  lost_ = true;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Reaper::kill_all() {
  order(Order::kill);
  const std::optional<Report> killed = wait_for(Report::killed, kAnswerTime);
  if (killed) return killed->value == 0;
  lose();
  return kill_descendants(Clock::now() + kKillTime, spare_);
}

Status Reaper::finish() {
  if (finished_) return {};
  finished_ = true;
  order(Order::finish);
  const std::optional<Report> gone = wait_for(Report::gone, kAnswerTime);
  if (gone && gone->value == 0) {
    close(socket_);
    waitpid(pid_, nullptr, 0);
    return {};
  }
  lose();
  close(socket_);
  const bool clear = kill_descendants(Clock::now() + kKillTime, spare_);
  const bool removed = directory_.remove();
  if (!clear) return Error{"a process of the unit could not be killed"};
  if (!removed) return Error{"cannot remove " + directory_.path().string()};
  return {};
}

}  // namespace symmcts::launch

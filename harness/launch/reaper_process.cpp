#include "harness/launch/reaper_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "harness/launch/outlet.hpp"
#include "harness/launch/proc_file.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/reaper_wire.hpp"

namespace symmcts::launch {
namespace {

constexpr char kTitle[] = "symmcts-reaper";
// Killing waits for the kernel to take a process apart; one that is stuck in a driver can take
// long, and whoever waits for us must get an answer.
constexpr auto kKillTime = std::chrono::seconds(5);

// Shows the reaper under its own name in ps: the short name, and the argument area, whose place
// /proc/self/stat tells (fields 48 and 49; zero without the right to see them).
void take_title() {
  prctl(PR_SET_NAME, kTitle, 0, 0, 0);
  const std::string text = read_proc("/proc/self/stat");
  std::size_t at = text.rfind(')');
  unsigned long begin = 0, end = 0;
  for (int field = 2; at != std::string::npos && field < 48; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return;
  if (std::sscanf(text.c_str() + at, " %lu %lu", &begin, &end) != 2 || begin == 0) return;
  const std::size_t room = end - begin;
  char* area = reinterpret_cast<char*>(begin);
  std::memset(area, 0, room);
  std::memcpy(area, kTitle, std::min(room - 1, sizeof(kTitle) - 1));
}

// Keeps nothing of the supervisor's open but `socket`: a reader of its output must see the end of
// it when the supervisor dies, not when the reaper is done.
void drop_descriptors(int socket) {
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  const auto close_from = [](unsigned first, unsigned last) {
    if (first <= last) syscall(SYS_close_range, first, last, 0U);
  };
  close_from(3, static_cast<unsigned>(socket) - 1);
  close_from(static_cast<unsigned>(socket) + 1, ~0U);
}

// The dispositions and the mask that a program expects at its start.
void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// What a program prints.
struct Outlets {
  Outlet out, err;
};

[[noreturn]] void become(const Command& command, const Outlets& outlets, int failure_pipe) {
  const std::vector<char*> argv = pointers(command.argv);
  const std::vector<char*> env = pointers(command.env);
  if (dup2(outlets.out.program_end(), 1) == 1 && dup2(outlets.err.program_end(), 2) == 2) {
    // A group of its own: a launcher that signals its group must not reach the reaper.
    setpgid(0, 0);
    reset_signals();
    execvpe(argv[0], argv.data(), env.data());
  }
  const int code = errno;
  (void)!write(failure_pipe, &code, sizeof(code));
  _exit(127);
}

// Starts the command. Returns its pid, or minus an errno.
pid_t spawn(const Command& command, Outlets& outlets) {
  if (const int code = outlets.out.open(command.out, command.output_limit)) return -code;
  if (const int code = outlets.err.open(command.err, command.output_limit)) return -code;
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return -errno;
  const pid_t pid = fork();
  if (pid == 0) become(command, outlets, pipe[1]);
  const int fork_error = errno;
  close(pipe[1]);
  outlets.out.close_program_end();
  outlets.err.close_program_end();
  int code = 0;
  const bool failed = pid > 0 && read(pipe[0], &code, sizeof(code)) == sizeof(code);
  close(pipe[0]);
  if (pid < 0) return -fork_error;
  if (!failed) return pid;
  waitpid(pid, nullptr, 0);
  return -code;
}

class ReaperProcess {
 public:
  ReaperProcess(int socket, const RunDirectory& directory, const std::vector<Command>& commands)
      : socket_(socket), directory_(directory), commands_(commands) {
    pids_.assign(commands.size(), -1);
    outlets_.resize(commands.size());
  }

  [[noreturn]] void run(pid_t parent) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
    const int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    const int supervisor = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
    if (getppid() != parent) _exit(0);
    const int code = directory_.create();
    report(Report::ready, -1, code);
    if (code != 0) _exit(1);

    while (true) {
      std::vector<pollfd> fds{{socket_, POLLIN, 0}, {children, POLLIN, 0}, {supervisor, POLLIN, 0}};
      for (const Outlets& outlets : outlets_) {
        for (const Outlet* outlet : {&outlets.out, &outlets.err}) {
          if (outlet->descriptor() >= 0) fds.push_back({outlet->descriptor(), POLLIN, 0});
        }
      }
      if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) end();
      if (fds[2].revents != 0) end();
      if (fds[1].revents != 0) {
        signalfd_siginfo info;
        while (read(children, &info, sizeof(info)) > 0) {
        }
        collect_exits();
      }
      drain_all();
      if (fds[0].revents != 0) obey();
    }
  }

 private:
  void report(Report::Kind kind, int command, int value) {
    const Report packet{kind, command, value};
    if (send(socket_, &packet, sizeof(packet), MSG_NOSIGNAL) != sizeof(packet)) end();
  }

  void collect_exits() {
    int status = 0;
    while (const pid_t pid = waitpid(-1, &status, WNOHANG)) {
      if (pid < 0) return;
      const auto at = std::find(pids_.begin(), pids_.end(), pid);
      if (at == pids_.end()) continue;  // an orphan that came to us
      *at = -1;
      // Its last words are in the file before anybody is told of its end.
      const auto command = static_cast<std::size_t>(at - pids_.begin());
      drain(command);
      report(Report::exited, static_cast<int>(command), status);
    }
  }

  void drain(std::size_t command) {
    Outlets& outlets = outlets_[command];
    if (outlets.out.drain()) report(Report::flooded, static_cast<int>(command), 1);
    if (outlets.err.drain()) report(Report::flooded, static_cast<int>(command), 2);
  }

  void drain_all() {
    for (std::size_t command = 0; command < outlets_.size(); ++command) drain(command);
  }

  void obey() {
    Order order{};
    if (recv(socket_, &order, sizeof(order), 0) != sizeof(order)) end();
    if (order.kind == Order::spawn) {
      const auto index = static_cast<std::size_t>(order.command);
      const pid_t pid = spawn(commands_[index], outlets_[index]);
      if (pid > 0) pids_[index] = pid;
      report(Report::spawned, order.command, pid);
    } else if (order.kind == Order::terminate) {
      signal_descendants(getpid(), SIGTERM);
    } else if (order.kind == Order::kill) {
      const bool clear = kill_descendants(Clock::now() + kKillTime);
      std::fill(pids_.begin(), pids_.end(), -1);
      drain_all();
      report(Report::killed, -1, clear ? 0 : 1);
    } else {
      end();
    }
  }

  [[noreturn]] void end() {
    const bool clear = kill_descendants(Clock::now() + kKillTime);
    const bool removed = directory_.remove();
    const Report last{Report::gone, -1, clear && removed ? 0 : 1};
    (void)!send(socket_, &last, sizeof(last), MSG_NOSIGNAL);
    _exit(0);
  }

  int socket_;
  const RunDirectory& directory_;
  const std::vector<Command>& commands_;
  std::vector<pid_t> pids_;
  std::vector<Outlets> outlets_;
};

}  // namespace

void run_reaper(int socket, pid_t parent, const RunDirectory& directory,
                const std::vector<Command>& commands) {
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  take_title();
  drop_descriptors(socket);
  // What ends a supervisor politely must not end the one who cleans up after it.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(signal, SIG_IGN);
  }
  ReaperProcess(socket, directory, commands).run(parent);
}

}  // namespace symmcts::launch

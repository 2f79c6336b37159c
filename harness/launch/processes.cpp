#include "harness/launch/processes.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "harness/launch/proc_file.hpp"

namespace symmcts::launch {
namespace {

bool read_process(pid_t pid, Process& out) {
  const std::string text = read_proc("/proc/" + std::to_string(pid) + "/stat");
  // The name, in parentheses, may itself hold parentheses and blanks: fields count from the last
  // one (proc(5)).
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
  char state = 0;
  int parent = 0;
  unsigned long long start = 0;
  const int got = std::sscanf(text.c_str() + name_end + 2,
                              "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                              "%*d %*d %llu",
                              &state, &parent, &start);
  if (got != 3) return false;
  out = Process{pid, parent, start, state == 'Z' || state == 'X'};
  return true;
}

std::vector<Process> all_processes() {
  std::vector<Process> all;
  DIR* dir = opendir("/proc");
  if (dir == nullptr) return all;
  while (const dirent* entry = readdir(dir)) {
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    Process process;
    if (pid > 0 && *end == '\0' && read_process(static_cast<pid_t>(pid), process)) {
      all.push_back(process);
    }
  }
  closedir(dir);
  return all;
}

bool spared(const Process& process, const std::vector<Process>& spare) {
  return std::any_of(spare.begin(), spare.end(), [&](const Process& s) {
    return s.pid == process.pid && s.start == process.start;
  });
}

}  // namespace

std::vector<Process> descendants(pid_t root, const std::vector<Process>& spare) {
  const std::vector<Process> all = all_processes();
  std::vector<Process> found;
  std::vector<pid_t> open{root};
  while (!open.empty()) {
    const pid_t parent = open.back();
    open.pop_back();
    for (const Process& process : all) {
      if (process.parent != parent || spared(process, spare)) continue;
      found.push_back(process);
      open.push_back(process.pid);
    }
  }
  return found;
}

std::vector<Process> living_descendants(pid_t root, const std::vector<Process>& spare) {
  std::vector<Process> found = descendants(root, spare);
  std::erase_if(found, [](const Process& process) { return process.dead; });
  return found;
}

int signal_descendants(pid_t root, int signal, const std::vector<Process>& spare) {
  int sent = 0;
  for (const Process& process : living_descendants(root, spare)) {
    sent += kill(process.pid, signal) == 0;
  }
  return sent;
}

bool kill_descendants(Clock::time_point deadline, const std::vector<Process>& spare) {
  const pid_t self = getpid();
  while (true) {
    signal_descendants(self, SIGSTOP, spare);
    signal_descendants(self, SIGKILL, spare);
    bool living = false;
    for (const Process& process : descendants(self, spare)) {
      if (process.parent == self) waitpid(process.pid, nullptr, WNOHANG);
      living |= !process.dead;
    }
    if (!living) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace symmcts::launch

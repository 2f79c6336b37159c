#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace symmcts::launch {

using Clock = std::chrono::steady_clock;

// One process as /proc shows it. `start` is its start time in clock ticks since boot, which tells a
// process from a later one with the same number.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t start = 0;
  bool dead = false;  // a zombie: holds no descriptor and no memory any more
};

// Every process below `root` in the parent tree, `root` itself not included. A child of the caller
// that is in `spare` is left out with everything below it. Blocks only on reading /proc; a process
// that goes away meanwhile is left out.
std::vector<Process> descendants(pid_t root, const std::vector<Process>& spare = {});

// The living ones among `descendants`.
std::vector<Process> living_descendants(pid_t root, const std::vector<Process>& spare = {});

// Sends `signal` once to each living descendant of `root`. Returns to how many.
int signal_descendants(pid_t root, int signal, const std::vector<Process>& spare = {});

// Stops every living descendant of the calling process, then kills it, so that none runs a handler
// or sees another one die; repeats until none lives or `deadline` has passed, for a process can
// fork between two looks. Precondition: the caller is the subreaper of what it kills (an orphan
// then stays below it). Reaps the caller's own dead children that it killed. Returns true if none
// is left.
bool kill_descendants(Clock::time_point deadline, const std::vector<Process>& spare = {});

}  // namespace symmcts::launch

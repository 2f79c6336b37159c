#pragma once

#include <sys/types.h>

#include <vector>

#include "harness/launch/command.hpp"
#include "harness/launch/run_directory.hpp"

namespace symmcts::launch {

// The body of the reaper: call it in a freshly forked child, it never returns. Creates the run
// directory, becomes the subreaper of all that it starts, obeys the orders that come in at `socket`
// (owned), and, as soon as the supervisor `parent` is gone, kills everything below itself and
// removes the run directory.
[[noreturn]] void run_reaper(int socket, pid_t parent, const RunDirectory& directory,
                             const std::vector<Command>& commands);

}  // namespace symmcts::launch

#pragma once

#include <cstdint>

namespace symmcts::launch {

// What travels between supervisor and reaper: one packet an order or report, over a socket pair of
// type SOCK_SEQPACKET. The closing of either end is the death of its holder.

// Supervisor to reaper.
struct Order {
  enum Kind : std::int32_t {
    spawn,      // start command `command`
    terminate,  // SIGTERM to everything below the reaper
    kill,       // SIGKILL to everything below the reaper, and wait until none lives
    finish,     // as kill, then remove the run directory and end
  };
  std::int32_t kind;
  std::int32_t command;
};

// Reaper to supervisor.
struct Report {
  enum Kind : std::int32_t {
    ready,    // the run directory exists; `value`: 0 or the errno that prevented it
    spawned,  // `value`: pid, or minus the errno of exec
    exited,   // `value`: status as waitpid gives it
    flooded,  // printed more than its limit; `value`: 1 on stdout, 2 on stderr
    killed,   // `value`: 0 if nothing lives below the reaper any more
    gone,     // `value`: 0 if also the run directory is gone; the reaper's last report
  };
  std::int32_t kind;
  std::int32_t command;
  std::int32_t value;
};

}  // namespace symmcts::launch

#pragma once

#include <string>
#include <vector>

#include "harness/platform/model/machine.hpp"

namespace symmcts::platform {

// Why nobody on a machine can ever move again.
struct DeadlockReport {
  struct Rank {
    int rank = 0;
    std::string where;               // the call or the exchange it waits in
    std::string calls;               // its last driver calls, or empty
    std::optional<TeamView> object;  // the multicast object it waits for
  };
  std::vector<Rank> ranks;  // in order of rank
  int gpus = 0;             // of the machine
};

// One line for people: each rank, what it waits for, which devices are missing.
std::string deadlock_text(const DeadlockReport& report);
// The same as a `hang` line of machine.jsonl (harness/evidence/README.md), without line end.
std::string deadlock_json(const DeadlockReport& report);

}  // namespace symmcts::platform

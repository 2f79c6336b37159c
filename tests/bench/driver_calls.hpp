#pragma once

#include <array>
#include <cstddef>

#include "symm_mem/team.hpp"

namespace symmcts::bench {

struct CallTime {
  const char* name = "";
  int times = 0;    // that a rendezvous of two ranks makes it on each
  double each = 0;  // us, median
};

using CallTimes = std::array<CallTime, 8>;

// The driver calls of a rendezvous without multicast, each measured alone in this process, with
// memory as the team would make it for `bytes`. Gives everything back.
CallTimes measure_calls(const symm_mem::Team& team, std::size_t bytes, int rounds);

double sum(const CallTimes& calls);

}  // namespace symmcts::bench

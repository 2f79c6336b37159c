#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "symm_mem/exchange.hpp"
#include "symm_mem/team.hpp"

namespace symmcts::bench {

// One of two processes on one host, a device each, with a team of the reference over both. Never
// with multicast: on a real driver that would change state which others share.
struct Partner {
  int rank = 0;
  symm_mem::Exchange* exchange = nullptr;
  symm_mem::Team* team = nullptr;

  // Both have come here; the host has waited.
  void meet() const;
  // The larger one of what the two give.
  double slower(double mine) const;
};

// Starts two processes, each with the primary context of device `rank` current, and runs `work` in
// both; waits for them and leaves nothing behind. The exit code: 0, the larger of the two's, or 3
// where one could not start or was lost. Precondition: this process has called no driver.
int run_pair(const std::function<int(Partner&)>& work);

// Ends the process with exit code 3 and one line that names the call, where it has failed.
void need(CUresult code, const char* call);
void need(const symm_mem::Status& status);

}  // namespace symmcts::bench

#pragma once

#include <cuda.h>

#include <chrono>
#include <functional>

#include "symm_mem/agreement.hpp"

namespace symm_mem {

// Asks `query` (cuStreamQuery, cuEventQuery) until it says something else than NOT_READY, and
// returns that; NOT_READY when `deadline` has passed. The host waits between two questions at the
// exchange, an eighth longer each time, and it is these waits that are counted: so the deadline is
// one of the exchange's time, like every other. Waits are cut short by nobody; blocks at most
// an eighth longer than the deadline.
CUresult poll(Agreement& agreement, std::chrono::nanoseconds deadline,
              const std::function<CUresult()>& query);

}  // namespace symm_mem

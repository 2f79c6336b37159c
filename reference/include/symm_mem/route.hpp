#pragma once

#include <cuda.h>

#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/capability.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// Collective. The terms of the group (agree_terms), with a route that has been tried: for FABRIC,
// then POSIX_FD, each rank exports a granule of memory to the next one, which imports and maps it.
// Any two cliques or hosts in the group have neighbours in that ring, so a route that does not
// reach everybody fails somewhere before any real memory is exchanged (SM-FALL-4, nvbandwidth#44,
// nccl#2186), and all ranks go on to the next route together (SM-FALL-2, SM-FALL-3,
// flashinfer#3701). Nothing of a trial is left. Blocks at most the group's deadline a wait.
//
// Errors, the same on all ranks: no route is left, with what was found on the way; or a call of a
// trial failed with a code that does not speak of the route, such as OUT_OF_MEMORY.
Result<Terms> agree_on_route(Agreement& agreement, CUdevice device,
                             std::vector<Capability> capabilities);

// Whether a failure of a trial means that there is no such route here.
bool means_no_route(const Error& error);

}  // namespace symm_mem

#pragma once

#include <cuda.h>

#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/handles.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// How a handle travels to another process, with the driver's own numbers.
enum class Route : unsigned {
  none = 0,
  posix_fd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
  fabric = CU_MEM_HANDLE_TYPE_FABRIC,
};

// What an export gives: an owned descriptor, which is itself a reference to the memory, or 64
// bytes, which are not: an importer of the bytes depends on somebody holding a handle
// (torchcomms#3506).
struct Shareable {
  Route route = Route::none;
  Descriptor descriptor;
  CUmemFabricHandle fabric{};
};

// Properties of memory of `device` that can be shared by `route` (modelexpress#600: forgotten, it
// cannot be exported later).
CUmemAllocationProp memory_properties(CUdevice device, Route route);

// Exports `handle` by `route`, which it must have been created with. Does not block.
Result<Shareable> export_handle(const PhysicalHandle& handle, Route route, Phase phase);

// Imports; the result is a reference of its own and a handle value of its own, also in the process
// that exported. The descriptor may be closed afterwards. Does not block.
Result<PhysicalHandle> import_handle(const Shareable& shareable, Phase phase);

// Collective: every rank gets what every rank exported, by group rank; its own place stays empty.
// If any rank comes with a failure, nothing is sent and all get that Error (SM-AGRE-5: nobody
// imports what was never exported). The caller keeps `mine`.
Result<std::vector<Shareable>> all_gather_shareable(Agreement& agreement, Phase phase,
                                                    Status status, const Shareable& mine);
// Collective: gives `mine`, of the agreed route, to the next group rank and takes what the one
// before has exported. Agree first that every rank has exported. The caller keeps `mine`.
Result<Shareable> pass_shareable(Agreement& agreement, Phase phase, const Shareable& mine);
// The same as all_gather from the root to the others. On the root the result is empty. `route` is
// the agreed one.
Result<Shareable> broadcast_shareable(Agreement& agreement, Phase phase, Status status, Route route,
                                      const Shareable& mine);

}  // namespace symm_mem

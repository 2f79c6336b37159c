#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/capability.hpp"
#include "symm_mem/handles.hpp"
#include "symm_mem/layout.hpp"
#include "symm_mem/result.hpp"
#include "symm_mem/shareable.hpp"

namespace symm_mem {

// Where a rendezvous takes place: this rank's device, and what the group has agreed on.
struct Site {
  CUdevice device = 0;
  CUcontext context = nullptr;
  Agreement* agreement = nullptr;  // not owned
  Terms terms{};
  std::function<void(Phase)> on_phase{};

  // Announces the phase before it starts.
  void enter(Phase phase) const {
    if (on_phase) on_phase(phase);
  }
};

// The unicast half of a block: this rank's memory and its peers', each in a range of its own. The
// methods are the steps, in the order in which establish_unicast takes them. A step that is not
// marked collective is local and returns its own failure, to be carried into the next collective.
struct Unicast {
  const Site& site;
  Layout layout{};
  // Destroyed from the last to the first: mappings before the handles under them.
  PhysicalHandle memory{};
  Shareable shared{};
  std::vector<Shareable> received{};
  std::vector<PhysicalHandle> peer_memory{};  // by group rank, the own place empty
  MappedRange local{};
  std::vector<MappedRange> peers{};  // by group rank, the own place empty

  // Creates memory that can be shared by the agreed route, of a size that can be bound to a
  // multicast object (SM-LAYO-4: other memory is never offered for it; modelexpress#600,
  // Megatron-LM#6956), and maps it. Fresh in every block: no handle is kept by address (SM-LIFE-4,
  // pytorch#192579), and no two blocks share an allocation (SM-LAYO-3).
  Status allocate(std::uint64_t bytes);
  // Writes zeros to the signal pads and waits for them. Before the memory is exported: a peer's
  // first signal could be wiped out otherwise (SM-SIG-1).
  Status zero_pads();
  // Collective. All ranks compare all layouts before anything is imported (SM-LAYO-1).
  Status exchange_layout(Status mine);
  // Exports the memory by the agreed route (SM-FALL-3).
  Status export_memory();
  // Collective. Nothing is sent unless every rank has exported.
  Status exchange_handles(Status mine);
  // Each import is a reference of its own. Descriptors are closed once imported (SM-LIFE-3).
  Status import_peers();
  // Maps each peer's memory for this device.
  Status map_peers();

  // Unmaps the peers, then gives back their memory and this rank's. Nobody may be using it. Goes on
  // past an error and returns the first one.
  Status close();
  // Leaves everything where it is, until the process ends.
  void abandon();

  CUdeviceptr pad(int member) const;  // start of that rank's allocation as seen from here
};

// All unicast steps in order, collective. A rank that comes with a failure in `ready` takes no step
// of its own. On failure every rank gets the same Error; what was built is undone when `unicast` is
// closed or destroyed.
Status establish_unicast(Unicast& unicast, std::uint64_t bytes, Status ready);

}  // namespace symm_mem

#pragma once

#include <cuda.h>

#include <chrono>
#include <cstdint>

#include "symm_mem/handles.hpp"
#include "symm_mem/rendezvous.hpp"
#include "symm_mem/result.hpp"
#include "symm_mem/shareable.hpp"

namespace symm_mem {

// The multicast half of a block. The methods are the steps, in the order in which
// establish_multicast takes them; every one that is not marked collective is local and returns its
// own failure, to be carried into the next collective. Precondition of all: the group agreed on
// multicast (Terms::multicast), which contains the permit of every rank.
struct Multicast {
  const Site& site;
  // This rank's memory, all of which is bound: the object is of the same size (SM-LAYO-2). Must
  // outlive this.
  const Unicast& unicast;
  // Destroyed from the last to the first: unmap, unbind, release (pytorch#163750).
  PhysicalHandle created{};  // root: the reference that cuMulticastCreate gave
  Shareable shared{};
  PhysicalHandle object{};  // the reference that this rank adds, binds and maps through
  Binding binding{};
  MappedRange range{};

  // Root only, elsewhere nothing happens: creates the object for all devices of the group and
  // exports it. The one place that calls cuMulticastCreate. It does not add the root's device.
  Status create_and_export();
  // Collective. Brings the export to every rank. A root that could not create says so here, and
  // nobody imports garbage (SM-AGRE-5, bug row 22).
  Status share(Status mine);
  // Every rank imports, the root its own export too: all ranks then hold handles of the same
  // provenance, and the driver picks the same copy path on all of them (SM-PROV-1,
  // pytorch#192530). The root keeps `created` besides.
  Status import_object();
  // Adds this rank's device: permanent, there is no remove. Through the imported handle
  // (SM-PROV-4).
  Status add_device();
  // Collective: the lowest failing rank's Error on all ranks, or success on all.
  Status vote(Phase phase, Status mine);
  // Binds this rank's memory. Blocks until every device has been added, so only after a vote
  // (SM-AGRE-1, pytorch#195596).
  Status bind();
  // Maps the object for this device, after the bind: mapping first dead-locked on 64 GPUs
  // (SM-AGRE-6, TensorRT-LLM#11610).
  Status map();
  // Root only: drops the create reference and the exported descriptor. Not before every rank has
  // imported: a late import by fabric handle would succeed with an empty object, and every bind
  // would wait for ever (SM-LIFE-1, torchcomms#3506). Not never either: that leaks a slot of the
  // switch (SM-LIFE-2, mscclpp#759).
  Status release_create_reference();
  // Writes a few bytes through the multicast address, by the copy engine that will be used, and
  // waits for them, at most the group's deadline. After a vote that all ranks have mapped.
  Status write_probe();
  // Looks whether every rank's bytes have come to this rank's replica. After a vote that all ranks
  // have written: creation succeeds on boards whose links cannot multicast, and the first write
  // shows it (SM-FALL-7, vllm#48071).
  Status check_probe();

  // Unmaps, unbinds exactly what was bound, releases: all before the memory (SM-TEAR-1), on every
  // rank (SM-TEAR-2), with no write in flight (SM-TEAR-3). Goes on past an error and returns the
  // first one (SM-TEAR-4, nccl#2117). Also after a failed step: what was never made is skipped
  // (SM-LEAK-2).
  Status close();
  // Leaves everything where it is, until the process ends.
  void abandon();
};

// An order of the steps. The reference has one; a known-bad implementation is another one.
using MulticastOrder = Status (*)(Multicast&);

// All multicast steps in order, collective. Returns the same Status on every rank; after a failure,
// slots that are all taken included (SM-LEAK-3, nccl#2077), every rank closes `multicast` and goes
// on with unicast (SM-AGRE-4).
Status establish_multicast(Multicast& multicast);

// How often a transient failure (is_transient) is met with another try. The root's counts.
struct RetryPolicy {
  int tries = 4;  // in all
  // Before the second try; doubles from try to try. The fabric manager stalled for about seven
  // seconds where this was reported, and the driver itself had waited for five (torchcomms#3130).
  std::chrono::nanoseconds backoff = std::chrono::milliseconds(500);
};

// Collective. Takes `order`; after a transient failure every rank gives back everything
// (SM-RETRY-3), waits as long as the root says, and tries again, all of them the same number of
// times (SM-RETRY-1: a rank that tries again alone waits for the others for ever). After any other
// failure, or the last try, nothing is left of `multicast` and all ranks have the same Error
// (SM-RETRY-2).
Status establish_in_lockstep(Multicast& multicast, MulticastOrder order, const RetryPolicy& policy);

}  // namespace symm_mem

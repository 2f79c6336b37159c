#pragma once

#include <cstdint>

#include "harness/platform/model/profile.hpp"
#include "harness/platform/process/memory.hpp"
#include "harness/platform/process/streams.hpp"

namespace symmcts::platform {

// What a copy is, before it has run: which engine class serves it and how a record shows it.
struct CopyPlan {
  CopyClass copy_class{};
  CopyKind kind{};
  MemoryKind source_kind{}, destination_kind{};
  int source_device = 0, destination_device = 0;  // ordinals; meaningful for ptop
};

// The rules of a copy between two addresses, on a stream of the device `ordinal`. Unicast memory is
// compared by physical device (measured on H200: provenance does not matter). A write to a
// multicast mapping of native provenance is a local copy when the source's ordinal is the one that
// the aperture reports, else a peer copy (reported, torchcomms#3498); through an imported mapping
// it is always a peer copy (reported, pytorch#192530). Small uploads ride the compute channel
// (measured); how small depends on whether the source is pinned and whether a graph does it.
CopyPlan plan_copy(const Profile& profile, const AddressInfo& destination,
                   const AddressInfo& source, std::uint64_t bytes, int ordinal,
                   bool in_graph = false);

}  // namespace symmcts::platform

#include "harness/platform/process/copy_plan.hpp"

namespace symmcts::platform {
namespace {

using Kind = AddressInfo::Kind;

bool on_host(const AddressInfo& place) {
  return place.kind == Kind::host_pageable || place.kind == Kind::host_pinned;
}

MemoryKind memory_kind(const AddressInfo& place) {
  if (place.kind == Kind::host_pageable) return MemoryKind::pageable;
  return place.kind == Kind::host_pinned ? MemoryKind::pinned : MemoryKind::device;
}

CopyClass upload_class(const Profile& profile, const AddressInfo& source, std::uint64_t bytes,
                       bool in_graph) {
  if (source.kind == Kind::host_pageable) {
    return bytes <= profile.inline_upload.value ? CopyClass::inline_htod : CopyClass::htod;
  }
  if (bytes < profile.small_upload.value) return CopyClass::small_htod;
  const bool rides = in_graph && bytes <= profile.inline_graph_upload.value;
  return rides ? CopyClass::inline_htod : CopyClass::htod;
}

bool is_local(const Profile& profile, const AddressInfo& destination, const AddressInfo& source) {
  if (destination.kind == Kind::multicast) {
    return destination.native && source.kind == Kind::memory &&
           source.ordinal == profile.aperture_ordinal.value;
  }
  return source.kind != Kind::multicast && destination.gpu == source.gpu;
}

}  // namespace

CopyPlan plan_copy(const Profile& profile, const AddressInfo& destination,
                   const AddressInfo& source, std::uint64_t bytes, int ordinal, bool in_graph) {
  CopyPlan plan;
  plan.source_kind = memory_kind(source);
  plan.destination_kind = memory_kind(destination);
  plan.source_device = source.ordinal >= 0 ? source.ordinal : ordinal;
  plan.destination_device = destination.ordinal >= 0 ? destination.ordinal : ordinal;
  if (on_host(source)) {
    // Host to host is not modelled apart: it takes the upload engine (inferred).
    plan.kind = on_host(destination) ? CopyKind::htoh : CopyKind::htod;
    plan.copy_class = upload_class(profile, source, bytes, in_graph);
  } else if (on_host(destination)) {
    plan.kind = CopyKind::dtoh;
    plan.copy_class = CopyClass::dtoh;
  } else if (is_local(profile, destination, source)) {
    plan.kind = CopyKind::dtod;
    plan.copy_class =
        destination.kind == Kind::multicast ? CopyClass::multicast_native : CopyClass::dtod;
  } else {
    plan.kind = CopyKind::ptop;
    const bool pulls = source.ordinal != ordinal && destination.ordinal == ordinal;
    plan.copy_class =
        pulls && destination.kind == Kind::memory ? CopyClass::peer_read : CopyClass::peer;
  }
  return plan;
}

}  // namespace symmcts::platform

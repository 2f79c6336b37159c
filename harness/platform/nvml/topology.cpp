// Links, and what lies between two GPUs of a host.
#include <cstdio>

#include "harness/platform/nvml/call.hpp"

using namespace symmcts::platform::nvml;

namespace {

// A link number is INVALID_ARGUMENT from 18 on (measured on a GPU with 18); a GPU with fewer says
// NOT_SUPPORTED for those it lacks.
template <typename Body>
Return on_link(Device device, unsigned link, const Body& body) {
  return on_device(device, [&](const World& here, int) {
    if (link >= static_cast<unsigned>(kLinksMost)) return Return::invalid_argument;
    const auto& management = here.profile().management;
    if (static_cast<int>(link) >= management.nvlinks.value) return Return::not_supported;
    return body(management);
  });
}

Return give(unsigned value, unsigned* out) {
  if (out == nullptr) return Return::invalid_argument;
  *out = value;
  return Return::success;
}

template <typename Body>
Return on_pair(Device one, Device other, const Body& body) {
  return on_device(one, [&](const World& here, int) {
    return here.index_of(other) < 0 ? Return::invalid_argument : body(here);
  });
}

// A switch has no address on the PCI bus of a host that does not own it: everything reads all ones
// (measured).
PciInfo switch_address() {
  PciInfo info{};
  std::snprintf(info.bus_id_legacy, sizeof info.bus_id_legacy, "FFFFFFF:FF:FF.0");
  std::snprintf(info.bus_id, sizeof info.bus_id, "FFFFFFFF:FF:FF.0");
  info.domain = info.device_id = 0xffffffffU;
  info.bus = info.device = 0xff;
  return info;
}

}  // namespace

SYMMCTS_NVML nvmlDeviceGetNvLinkState(Device device, unsigned link, unsigned* out) {
  return on_link(device, link, [&](const auto&) { return give(1, out); });
}

SYMMCTS_NVML nvmlDeviceGetNvLinkVersion(Device device, unsigned link, unsigned* out) {
  return on_link(device, link, [&](const auto& management) {
    return give(static_cast<unsigned>(management.nvlink_version.value), out);
  });
}

// Each of the six capabilities that NVML names was there where it was measured.
SYMMCTS_NVML nvmlDeviceGetNvLinkCapability(Device device, unsigned link, unsigned capability,
                                           unsigned* out) {
  return on_link(device, link, [&](const auto&) {
    return capability < static_cast<unsigned>(kCapabilities) ? give(1, out)
                                                             : Return::invalid_argument;
  });
}

SYMMCTS_NVML nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, unsigned* out) {
  return on_link(device, link, [&](const auto& management) {
    const bool gpu = management.nvlink_remote.value == "gpu";
    return give(static_cast<unsigned>(gpu ? kRemoteGpu : kRemoteSwitch), out);
  });
}

// Which GPU a direct link leads to is in no profile.
SYMMCTS_NVML nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* out) {
  return on_link(device, link, [&](const auto& management) {
    if (out == nullptr) return Return::invalid_argument;
    static bool told = false;
    if (management.nvlink_remote.value == "gpu") {
      return not_modelled("nvmlDeviceGetNvLinkRemotePciInfo between GPUs", told);
    }
    *out = switch_address();
    return Return::success;
  });
}

// The first version knew the short form of the address only.
SYMMCTS_NVML nvmlDeviceGetNvLinkRemotePciInfo(Device device, unsigned link, PciInfo* out) {
  if (out == nullptr) return Return::invalid_argument;
  PciInfo info{};
  const Return code = nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &info);
  if (code == Return::success) {
    std::memcpy(static_cast<void*>(out), &info, offsetof(PciInfo, subsystem_id));
  }
  return code;
}

// GPUs of a host reach each other over NVLink for everything, and not over PCI (measured, a GPU
// with itself included).
SYMMCTS_NVML nvmlDeviceGetP2PStatus(Device one, Device other, int index, int* status) {
  return on_pair(one, other, [&](const World&) {
    if (status == nullptr || index < 0 || index >= kP2pIndices) return Return::invalid_argument;
    *status = index == kP2pIndexPci ? kP2pNotSupported : kP2pOk;
    return Return::success;
  });
}

SYMMCTS_NVML nvmlDeviceGetTopologyCommonAncestor(Device one, Device other, int* level) {
  return on_pair(one, other, [&](const World& here) {
    if (level == nullptr) return Return::invalid_argument;
    if (one == other) return Return::not_supported;  // measured
    *level = here.profile().management.common_ancestor.value;
    return Return::success;
  });
}

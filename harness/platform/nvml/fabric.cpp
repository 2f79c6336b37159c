// The fabric: whose FABRIC handles a GPU could reach. PyTorch and NCCL ask here before they try.
#include <algorithm>

#include "harness/platform/nvml/call.hpp"

using namespace symmcts::platform::nvml;
using symmcts::platform::FabricManager;

namespace {

constexpr const char* kStates[] = {"not_supported", "not_started", "in_progress", "completed"};

// Fields that all versions have. The status is that of a registration that has ended. Without a
// fabric manager one that has begun does not end (what `nvidia-smi -q` shows then: "In Progress"),
// and no cluster has been told.
template <typename Info>
void fill(const World& here, int index, Info& out) {
  const bool registers = here.profile().fabric_state.value != kStates[0];
  out.status = 0;
  if (registers && here.faults().fabric_manager == FabricManager::absent) {
    std::fill(std::begin(out.cluster_uuid), std::end(out.cluster_uuid), 0);
    out.clique_id = 0;
    out.state = 2;
    return;
  }
  const auto uuid = here.cluster_uuid(index);
  std::copy(uuid.begin(), uuid.end(), out.cluster_uuid);
  out.clique_id = static_cast<unsigned>(here.profile().clique_id.value);
  const auto* state =
      std::find(std::begin(kStates), std::end(kStates), here.profile().fabric_state.value);
  out.state = static_cast<unsigned char>(state - std::begin(kStates));
}

}  // namespace

SYMMCTS_NVML nvmlDeviceGetGpuFabricInfo(Device device, FabricInfo* out) {
  return on_device(device, [&](const World& here, int index) {
    if (out == nullptr) return Return::invalid_argument;
    fill(here, index, *out);
    return Return::success;
  });
}

// Nothing is known of the fabric's health: every field of the mask reads "not supported", as it did
// where it was measured.
SYMMCTS_NVML nvmlDeviceGetGpuFabricInfoV(Device device, FabricInfoV3* out) {
  return on_device(device, [&](const World& here, int index) {
    if (out == nullptr) return Return::invalid_argument;
    if (out->version == version_of<FabricInfoV2>(2)) {
      auto& old = reinterpret_cast<FabricInfoV2&>(*out);
      fill(here, index, old);
      old.health_mask = 0;
      return Return::success;
    }
    if (out->version != version_of<FabricInfoV3>(3)) return Return::argument_version_mismatch;
    fill(here, index, *out);
    out->health_mask = 0;
    out->health_summary = 0;
    return Return::success;
  });
}

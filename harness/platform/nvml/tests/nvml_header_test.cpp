// Our declarations against NVIDIA's public header, where that is at hand (nvml_header_test.py finds
// or fetches it and compiles this): layouts, versions and numbers. Compiling is the test.
#include <nvml.h>

#include <cstddef>

#include "harness/platform/nvml/nvml_abi.hpp"

namespace symmcts::platform::nvml {

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field) \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field))
#define SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

SAME_SIZE(PciInfo, nvmlPciInfo_t);
SAME_PLACE(PciInfo, domain, nvmlPciInfo_t, domain);
SAME_PLACE(PciInfo, bus, nvmlPciInfo_t, bus);
SAME_PLACE(PciInfo, device, nvmlPciInfo_t, device);
SAME_PLACE(PciInfo, device_id, nvmlPciInfo_t, pciDeviceId);
SAME_PLACE(PciInfo, subsystem_id, nvmlPciInfo_t, pciSubSystemId);
SAME_PLACE(PciInfo, bus_id, nvmlPciInfo_t, busId);
SAME_SIZE(MemoryInfo, nvmlMemory_t);
SAME_PLACE(MemoryInfo, free, nvmlMemory_t, free);
SAME_PLACE(MemoryInfo, used, nvmlMemory_t, used);
SAME_SIZE(MemoryInfoV2, nvmlMemory_v2_t);
SAME_PLACE(MemoryInfoV2, total, nvmlMemory_v2_t, total);
SAME_PLACE(MemoryInfoV2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(MemoryInfoV2, free, nvmlMemory_v2_t, free);
SAME_PLACE(MemoryInfoV2, used, nvmlMemory_v2_t, used);
SAME_NUMBER(version_of<MemoryInfoV2>(2), nvmlMemory_v2);
SAME_SIZE(FabricInfo, nvmlGpuFabricInfo_t);
SAME_PLACE(FabricInfo, status, nvmlGpuFabricInfo_t, status);
SAME_PLACE(FabricInfo, clique_id, nvmlGpuFabricInfo_t, cliqueId);
SAME_PLACE(FabricInfo, state, nvmlGpuFabricInfo_t, state);
SAME_SIZE(FabricInfoV2, nvmlGpuFabricInfo_v2_t);
SAME_NUMBER(version_of<FabricInfoV2>(2), nvmlGpuFabricInfo_v2);
SAME_SIZE(FabricInfoV3, nvmlGpuFabricInfo_v3_t);
SAME_PLACE(FabricInfoV3, cluster_uuid, nvmlGpuFabricInfo_v3_t, clusterUuid);
SAME_PLACE(FabricInfoV3, state, nvmlGpuFabricInfo_v3_t, state);
SAME_PLACE(FabricInfoV3, health_mask, nvmlGpuFabricInfo_v3_t, healthMask);
SAME_PLACE(FabricInfoV3, health_summary, nvmlGpuFabricInfo_v3_t, healthSummary);
SAME_NUMBER(version_of<FabricInfoV3>(3), nvmlGpuFabricInfo_v3);
SAME_SIZE(ConfidentialState, nvmlConfComputeSystemState_t);
SAME_PLACE(ConfidentialState, feature, nvmlConfComputeSystemState_t, ccFeature);

SAME_NUMBER(Return::uninitialized, NVML_ERROR_UNINITIALIZED);
SAME_NUMBER(Return::invalid_argument, NVML_ERROR_INVALID_ARGUMENT);
SAME_NUMBER(Return::not_supported, NVML_ERROR_NOT_SUPPORTED);
SAME_NUMBER(Return::not_found, NVML_ERROR_NOT_FOUND);
SAME_NUMBER(Return::insufficient_size, NVML_ERROR_INSUFFICIENT_SIZE);
SAME_NUMBER(Return::driver_not_loaded, NVML_ERROR_DRIVER_NOT_LOADED);
SAME_NUMBER(Return::function_not_found, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME_NUMBER(Return::argument_version_mismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME_NUMBER(Return::unknown, NVML_ERROR_UNKNOWN);
SAME_NUMBER(kLinksMost, NVML_NVLINK_MAX_LINKS);
SAME_NUMBER(kCapabilities, NVML_NVLINK_CAP_COUNT);
SAME_NUMBER(kP2pIndexPci, NVML_P2P_CAPS_INDEX_PCI);
SAME_NUMBER(kP2pOk, NVML_P2P_STATUS_OK);
SAME_NUMBER(kP2pNotSupported, NVML_P2P_STATUS_NOT_SUPPORTED);
SAME_NUMBER(kRemoteGpu, NVML_NVLINK_DEVICE_TYPE_GPU);
SAME_NUMBER(kRemoteSwitch, NVML_NVLINK_DEVICE_TYPE_SWITCH);

}  // namespace symmcts::platform::nvml

#include "symm_mem/capability.hpp"

#include <fstream>
#include <functional>
#include <iterator>

namespace symm_mem {
namespace {

// A number for the kernel that this process runs under: descriptors travel within it only. The
// boot id differs between machines and agrees between the containers of one.
std::uint64_t host_number() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  const std::string id((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::hash<std::string>{}(id);
}

// The multicast object's minimum granularity, or 0 with the reason. Needs no object.
std::uint64_t multicast_granularity(CUdevice device, std::uint64_t memory_granularity,
                                    std::string& why_not) {
  int supported = 0;
  const CUresult asked =
      cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, device);
  if (asked != CUDA_SUCCESS || supported == 0) {
    why_not = "the device does not support multicast";
    return 0;
  }
  // numDevices 1 and a size of 0 are refused by some drivers even in this query (facts A3.6).
  CUmulticastObjectProp properties{};
  properties.numDevices = 2;
  properties.size = memory_granularity;
  std::size_t granularity = 0;
  const Status status =
      check(cuMulticastGetGranularity(&granularity, &properties, CU_MULTICAST_GRANULARITY_MINIMUM),
            "cuMulticastGetGranularity", Phase::open);
  if (!status) why_not = status.error().line();
  return status ? granularity : 0;
}

}  // namespace

Status probe_capability(CUdevice device, std::uint32_t allowed_routes, MulticastPermit permit,
                        Capability& capability) {
  capability.host = host_number();
  capability.routes = allowed_routes;
  Status status =
      check(cuDeviceGetUuid(&capability.device, device), "cuDeviceGetUuid", Phase::open);
  if (!status) return status;

  const CUmemAllocationProp properties = memory_properties(device, Route::none);
  std::size_t granularity = 0;
  status = check(
      cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity", Phase::open);
  if (!status) return status;
  capability.memory_granularity = granularity;

  if (permit == MulticastPermit::never) {
    capability.why_no_multicast = "no multicast permit";
  } else {
    capability.multicast_granularity =
        multicast_granularity(device, granularity, capability.why_no_multicast);
    capability.multicast = capability.multicast_granularity != 0;
  }
  return {};
}

}  // namespace symm_mem

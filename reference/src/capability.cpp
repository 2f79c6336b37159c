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

CUmemAllocationProp memory_properties(CUdevice device, Route route) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  properties.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(route);
  return properties;
}

// Creates, exports and imports one granule, and gives everything back.
bool route_works(CUdevice device, Route route, std::size_t granularity) {
  const CUmemAllocationProp properties = memory_properties(device, route);
  CUmemGenericAllocationHandle value = 0;
  if (cuMemCreate(&value, granularity, &properties, 0) != CUDA_SUCCESS) return false;
  const PhysicalHandle memory(value, Provenance::native);
  const Result<Shareable> shared = export_handle(memory, route, Phase::open);
  return shared && import_handle(shared.value(), Phase::open);
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

Result<Capability> probe_capability(CUdevice device, std::uint32_t allowed_routes,
                                    MulticastPermit permit) {
  Capability capability;
  capability.host = host_number();
  Status status =
      check(cuDeviceGetUuid(&capability.device, device), "cuDeviceGetUuid", Phase::open);
  if (!status) return status.error();

  const CUmemAllocationProp properties = memory_properties(device, Route::none);
  std::size_t granularity = 0;
  status = check(
      cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
      "cuMemGetAllocationGranularity", Phase::open);
  if (!status) return status.error();
  capability.memory_granularity = granularity;

  for (const Route route : {Route::fabric, Route::posix_fd}) {
    const auto bit = static_cast<std::uint32_t>(route);
    if ((allowed_routes & bit) != 0 && route_works(device, route, granularity)) {
      capability.routes |= bit;
    }
  }

  if (permit == MulticastPermit::never) {
    capability.why_no_multicast = "no multicast permit";
  } else {
    capability.multicast_granularity =
        multicast_granularity(device, granularity, capability.why_no_multicast);
    capability.multicast = capability.multicast_granularity != 0;
  }
  return capability;
}

}  // namespace symm_mem

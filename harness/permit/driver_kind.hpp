#pragma once

#include <string>

namespace symmcts {

// Which machine is behind the CUDA driver API of this process.
enum class DriverKind {
  none,      // no driver is loaded
  software,  // the software platform
  real,      // everything else
};

struct LoadedDriver {
  DriverKind kind = DriverKind::none;
  std::string path;  // of the object that holds cuMulticastCreate; empty where unknown
};

// Classifies the driver whose cuMulticastCreate this address is. It is software only if the object
// that holds the address itself exports symmcts_platform_abi; in every other case, doubt included,
// it is real (design, section 3). Calls nothing in that object. Never reads the environment.
LoadedDriver classify_driver(const void* multicast_create);

// Classifies the driver that this process has loaded, without loading one: the cuMulticastCreate
// that the linker resolves and the one in the object named libcuda.so.1. Where both exist and one
// of them is real, the answer is real. A driver that is too old to have cuMulticastCreate is
// classified by its cuInit. May be called before cuInit; takes the dynamic linker's lock.
LoadedDriver loaded_driver();

const char* driver_kind_name(DriverKind kind);  // "none", "software", "real"

}  // namespace symmcts

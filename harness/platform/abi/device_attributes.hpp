#pragma once

#include <cuda.h>

#include <cstdint>

#include "harness/platform/model/profile.hpp"

namespace symmcts::platform::abi {

enum class Answer : std::uint8_t { known, no_such_attribute, not_modelled };

// The value of a device attribute, from the profile, from the documented limits of the compute
// capability, or 0 for what the platform does not offer. `local` counts the host's GPUs.
// not_modelled: a number of real silicon that the profile does not hold; 0 would be a lie.
Answer device_attribute(const Profile& profile, int local, CUdevice_attribute attribute, int& out);

}  // namespace symmcts::platform::abi

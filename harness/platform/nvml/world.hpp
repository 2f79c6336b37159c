#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/platform/model/faults.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/platform/nvml/environment.hpp"
#include "harness/platform/nvml/nvml_abi.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform::nvml {

// What the library knows between the first nvmlInit and the last nvmlShutdown: the machine that
// this process's libcuda.so.1 joins, as this host's administrator sees it. It joins nothing itself:
// a process that only looks keeps nobody from moving and makes no machine nondeterministic.
class World {
 public:
  // Describes the machine of the broker that listens at SYMMCTS_MACHINE; where none does (yet), the
  // one that the first client would start.
  static Result<std::unique_ptr<World>> look(Environment environment);

  const Profile& profile() const { return profile_; }
  // What the scenario makes of the machine.
  const Faults& faults() const { return faults_; }
  int gpus() const { return profile_.gpus_per_host.value; }
  // Machine-wide index of a GPU of this host.
  int gpu(int index) const { return environment_.host * gpus() + index; }

  // Handles are numbers that name a GPU; anything else is -1.
  static Device handle(int index);
  int index_of(Device device) const;

  // Bytes of the GPU that clients of the machine hold at this moment. Fails where the machine
  // cannot be asked.
  Result<std::uint64_t> memory_used(int index) const;

  std::array<std::uint8_t, 16> cluster_uuid(int index) const;

 private:
  World(Environment environment, Profile profile, Faults faults)
      : environment_(std::move(environment)),
        profile_(std::move(profile)),
        faults_(std::move(faults)) {}
  Environment environment_;
  Profile profile_;
  Faults faults_;
};

}  // namespace symmcts::platform::nvml

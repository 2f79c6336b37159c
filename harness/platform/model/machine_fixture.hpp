#pragma once

#include <gtest/gtest.h>

#include "harness/platform/model/machine.hpp"

namespace symmcts::platform {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A machine of 2 hosts with 4 GPUs each that shares by every route.
inline Profile open_profile() {
  Profile profile;
  profile.hosts.value = 2;
  profile.gpus_per_host.value = 4;
  profile.gpu_memory.value = 64 * kMiB;
  profile.multicast.value = profile.fabric.value = profile.posix_fd.value = true;
  profile.imex_channel.value = true;
  profile.granularity.value = 2 * kMiB;
  profile.multicast_granularity.value = 2 * kMiB;
  profile.multicast_slots.value = 2;
  return profile;
}

// Tests of the machine on that profile; rank r is a client on host 0.
class MachineTest : public ::testing::Test {
 protected:
  explicit MachineTest(const Profile& profile = open_profile())
      : machine_(profile, 1), a_(*machine_.attach(0, 0)), b_(*machine_.attach(1, 0)) {}

  HandleInfo create(ClientId client, int gpu, std::uint32_t types, std::uint64_t size = 2 * kMiB) {
    HandleInfo info;
    EXPECT_EQ(machine_.create_memory(client, gpu, size, types, info), Code::success);
    return info;
  }
  HandleInfo create_team(ClientId client, std::uint32_t devices,
                         std::uint32_t types = kHandleFabric | kHandlePosixFd,
                         std::uint64_t size = 4 * kMiB) {
    HandleInfo info;
    EXPECT_EQ(machine_.multicast_create(client, devices, size, types, info), Code::success);
    return info;
  }
  FabricToken token_of(ClientId client, const HandleInfo& info) {
    FabricToken token{};
    EXPECT_EQ(machine_.export_fabric(client, info.handle, token), Code::success);
    return token;
  }
  HandleInfo import(ClientId client, const FabricToken& token) {
    HandleInfo info;
    EXPECT_EQ(machine_.import_fabric(client, token, info), Code::success);
    return info;
  }
  TeamCall bind(ClientId client, const HandleInfo& team, const HandleInfo& memory,
                std::uint64_t mc_offset = 0, std::uint64_t mem_offset = 0,
                std::uint64_t size = 2 * kMiB, Ns now = 0) {
    return machine_.multicast_bind(client, team.handle, mc_offset, memory.object, mem_offset, size,
                                   now);
  }
  Code add(ClientId client, const HandleInfo& team, int gpu, Ns now = 0) {
    return machine_.multicast_add_device(client, team.handle, gpu, now);
  }

  Machine machine_;
  ClientId a_, b_;
};

}  // namespace symmcts::platform

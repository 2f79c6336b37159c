#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "harness/platform/process/local_machine.hpp"
#include "harness/platform/process/memory.hpp"

namespace symmcts::platform {

inline constexpr std::uint64_t kMiB = 1 << 20;

// The numbers of hgx-h200 that memory depends on (errors-latency-sizes: granularity 2 MiB), with a
// multicast granularity that differs, so that a mix-up of the two is seen.
inline Profile memory_profile() {
  Profile profile;
  profile.granularity.value = profile.granularity_recommended.value = 2 * kMiB;
  profile.multicast_granularity.value = 4 * kMiB;
  profile.multicast_granularity_recommended.value = 512 * kMiB;
  profile.hosts.value = 1;
  profile.gpus_per_host.value = 2;
  profile.gpu_memory.value = 1024 * kMiB;
  profile.multicast.value = profile.posix_fd.value = true;
  profile.multicast_slots.value = 4;
  profile.aperture_ordinal.value = 0;
  return profile;
}

// One process on the local machine.
struct LocalProcess {
  LocalProcess(LocalMachine& machine, std::vector<int> visible)
      : client(machine, -1), memory(Memory::make(client, profile, clock, std::move(visible))) {}

  AppHandle create(int ordinal, std::uint64_t size, std::uint32_t types = kHandlePosixFd) {
    AppHandle handle = 0;
    EXPECT_EQ(memory->create(ordinal, size, types, handle), Code::success);
    return handle;
  }
  AppHandle import_of(AppHandle exported) {
    int fd = -1;
    AppHandle handle = 0;
    EXPECT_EQ(memory->export_fd(exported, fd), Code::success);
    EXPECT_EQ(memory->import_fd(fd, handle), Code::success);
    close(fd);
    return handle;
  }
  std::uint64_t reserve(std::uint64_t size) {
    std::uint64_t address = 0;
    EXPECT_EQ(memory->reserve(size, 0, 0, address), Code::success);
    return address;
  }
  // Reserved, mapped, and read-write for every ordinal.
  std::uint64_t mapped(AppHandle handle, std::uint64_t size, int devices) {
    const std::uint64_t address = reserve(size);
    EXPECT_EQ(memory->map(address, size, 0, handle), Code::success);
    std::vector<AccessGrant> grants;
    for (int i = 0; i < devices; ++i) grants.push_back({i, 3});
    EXPECT_EQ(memory->set_access(address, size, grants), Code::success);
    return address;
  }

  Profile profile = memory_profile();
  LocalClock clock;
  LocalClient client;
  std::unique_ptr<Memory> memory;
};

inline std::uint64_t address_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace symmcts::platform

#pragma once

#include <gtest/gtest.h>

#include "harness/platform/broker/client.hpp"

// Objects that tests make without caring how.
namespace symmcts::platform::test {

inline constexpr std::uint64_t kMiB = 1 << 20;

inline HandleInfo create(Client& client, int gpu, std::uint32_t types) {
  CallTime time;
  HandleInfo info;
  EXPECT_EQ(client.create_memory(time, gpu, 2 * kMiB, types, info), Code::success);
  return info;
}

inline HandleInfo create_team(Client& client, std::uint32_t devices) {
  CallTime time;
  HandleInfo info;
  EXPECT_EQ(client.multicast_create(time, devices, 2 * kMiB, kHandleFabric | kHandlePosixFd, info),
            Code::success);
  return info;
}

}  // namespace symmcts::platform::test

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>

#include "harness/platform/process/streams.hpp"
#include "harness/platform/process/streams_fakes.hpp"

// What every test of Streams starts from: the profile gb200-nvl2 and ranks of the fake machine.
namespace symmcts::platform {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline const Profile& profile() {
  static const Profile loaded = [] {
    std::ifstream in(std::string(SYMMCTS_PLATFORM_FIXTURES) + "/gb200-nvl2.toml");
    std::stringstream text;
    text << in.rdbuf();
    auto parsed = parse_profile(text.str(), "gb200-nvl2.toml");
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error());
    return parsed.value();
  }();
  return loaded;
}

// One rank of the fake machine; sees both GPUs, its own one first.
struct Rank {
  Rank(FakeBroker& broker, int index)
      : client(broker, index),
        memory(broker, client, {index, 1 - index}),
        streams(Streams::make(client, profile())) {
    streams->attach(memory, sink);
  }
  FakeRank client;
  FakeMemory memory;
  FakeSink sink;
  std::unique_ptr<Streams> streams;
};

class OneRank : public ::testing::Test {
 protected:
  FakeBroker broker;
  Rank rank{broker, 0};
  Streams& streams = *rank.streams;
  const std::uint64_t device = FakeMemory::device(0);
  const std::uint64_t peer = FakeMemory::device(1);
};

}  // namespace symmcts::platform

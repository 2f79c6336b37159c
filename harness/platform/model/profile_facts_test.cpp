// Numbers of the profiles that are facts about the machines.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "harness/platform/model/profile.hpp"

namespace symmcts::platform {
namespace {

Profile profile_of(const std::string& name) {
  const std::string path = std::string(SYMMCTS_PLATFORM_FIXTURES) + "/" + name + ".toml";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  auto profile = parse_profile(text.str(), path);
  EXPECT_TRUE(profile) << profile.error();
  return profile ? profile.value() : Profile{};
}

// A11.5 (NCCL#2077): 128 on a node of eight H200; A3.3: 2 MiB and 512 MiB.
TEST(ProfileFacts, SlotsAreTheReportedOnes) {
  const Profile profile = profile_of("hgx-h200");
  EXPECT_EQ(profile.multicast_slots.value, 128u);
  EXPECT_EQ(profile.multicast_slots.mark, Mark::reported);
  EXPECT_EQ(profile.multicast_granularity.value, 2u << 20);
  EXPECT_EQ(profile.multicast_granularity_recommended.value, 512u << 20);
}

}  // namespace
}  // namespace symmcts::platform

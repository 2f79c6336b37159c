#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/platform/model/timeline.hpp"

// What every test of the timeline starts from: a profile of fixtures/platforms, and a timeline that
// is run to its end.
namespace symmcts::platform {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

inline Profile load(const std::string& name, const std::string& dtod_engine = "htod") {
  std::ifstream in(std::string(SYMMCTS_PLATFORM_FIXTURES) + "/" + name + ".toml");
  std::stringstream text;
  text << in.rdbuf();
  std::string toml = text.str();
  const std::string key = "dtod_engine = { value = \"";
  const auto at = toml.find(key) + key.size();
  toml.replace(at, toml.find('"', at) - at, dtod_engine);
  auto profile = parse_profile(toml, name);
  EXPECT_TRUE(profile) << (profile ? "" : profile.error());
  return profile.value();
}

// A timeline with non-blocking streams 13.. on device 0, run to its end.
class Runner {
 public:
  explicit Runner(Profile profile, int streams = 4) : profile_(std::move(profile)) {
    for (int i = 0; i < streams; ++i) timeline.add_stream(13 + i, 0, false, true);
  }
  // Runs until nothing is left but unresolved waits; returns what completed, in order.
  std::vector<std::uint64_t> run() {
    std::vector<std::uint64_t> ids;
    while (timeline.next() != kNever) {
      const auto h = timeline.step();
      if (h && h->kind == Happening::Kind::completed) ids.push_back(h->op->id);
    }
    return ids;
  }

 private:
  Profile profile_;

 public:
  Timeline timeline{profile_};
};

}  // namespace symmcts::platform

// Profiles that extend others: what they say, and what is wrong with a chain of them.
#include "harness/platform/model/profile_lookup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace symmcts::platform {
namespace {
namespace fs = std::filesystem;

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Extends : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("symmcts-extends-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / (name + ".toml");
    std::ofstream(path) << text;
    return path.string();
  }
  // A whole profile, two lines long before `rest`.
  static std::string child(const std::string& base, const std::string& rest = "") {
    return "schema = \"symm-cts/platform/1\"\nname = \"child\"\nsummary = \"a child\"\nextends = "
           "\"" +
           base + "\"\n" + rest;
  }
  Result<LoadedProfile> load(const std::string& name) const {
    return load_profile(name, {folder_.string(), SYMMCTS_PLATFORM_FIXTURES});
  }
  std::string error_of(const std::string& name) const {
    const auto loaded = load(name);
    EXPECT_FALSE(loaded) << name;
    return loaded ? "" : loaded.error();
  }

  fs::path folder_;
};

TEST_F(Extends, OneFactReplacesOneFact) {
  put("child", child("hgx-h200",
                     "[machine]\nhosts = { value = 3, mark = \"inferred\", "
                     "source = \"a test\" }\n"));
  const auto base = load("hgx-h200");
  const auto loaded = load("child");
  ASSERT_TRUE(base && loaded) << (loaded ? "" : loaded.error());
  const Profile& profile = loaded.value().profile;
  EXPECT_EQ(profile.name, "child");
  EXPECT_EQ(profile.hosts.value, 3);
  EXPECT_EQ(profile.hosts.source, "a test");
  EXPECT_EQ(profile.gpus_per_host.value, 8);
  EXPECT_EQ(profile.gpus_per_host.mark, Mark::documented);
  EXPECT_EQ(profile.rule(CopyClass::peer).duration.value,
            base.value().profile.rule(CopyClass::peer).duration.value);
}

// Every client of a machine reads the broker's text.
TEST_F(Extends, TheTextOfAChainStandsAlone) {
  put("child", child("hgx-h200",
                     "[copy.peer]\ngap_ns = { value = 1, mark = \"inferred\", "
                     "source = \"a test\" }\n"));
  const auto loaded = load("child");
  ASSERT_TRUE(loaded) << loaded.error();
  const auto again = parse_profile(loaded.value().text, "text");
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again.value().name, "child");
  EXPECT_EQ(again.value().rule(CopyClass::peer).gap_ns.value, 1);
  EXPECT_EQ(again.value().rule(CopyClass::peer).switch_gap_ns.value, 2500);
  EXPECT_EQ(again.value().multicast_slots.mark, Mark::reported);
}

TEST_F(Extends, AnErrorNamesTheFileThatItIsIn) {
  const std::string bad = put("bad", child("hgx-h200",
                                           "[machine]\nhosts = { value = 0, mark = \"inferred\", "
                                           "source = \"a test\" }\n"));
  put("child", child("bad"));
  EXPECT_THAT(error_of("child"), StartsWith(bad + ":6:9: 'machine.hosts' is 0"));
  put("child", child("hgx-h200", "[machine]\nguests = 3\n"));
  EXPECT_THAT(error_of("child"), HasSubstr("child.toml:6:10: unknown key 'machine.guests'"));
  const std::string broken = put("bad", child("hgx-h200", "[machine\n"));
  put("child", child("bad"));
  EXPECT_THAT(error_of("child"), StartsWith(broken + ":5:"));
}

TEST_F(Extends, WhatIsNotThere) {
  const std::string path = put("child", child("nobody"));
  EXPECT_THAT(error_of("child"),
              StartsWith(path + ":4:11: 'extends': no platform profile 'nobody' in "));
  put("child", child("sub/nobody.toml"));
  EXPECT_THAT(error_of("child"), EndsWith("sub/nobody.toml: No such file or directory"));
  put("child", "extends = 7\n");
  EXPECT_THAT(error_of("child"), HasSubstr("child.toml:1:11: 'extends' must name a profile"));
}

TEST_F(Extends, Circles) {
  put("child", child("child"));
  EXPECT_THAT(error_of("child"), HasSubstr("child.toml:4:11: 'extends' goes in a circle"));
  put("child", child("other"));
  put("other", child("third"));
  put("third", child("other"));
  EXPECT_THAT(error_of("child"), HasSubstr("third.toml:4:11: 'extends' goes in a circle"));
}

TEST_F(Extends, ATextAloneExtendsNothing) {
  const auto profile = parse_profile(child("hgx-h200"), "p.toml");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error(), StartsWith("p.toml:4:11: 'extends' works only in a file"));
}

// GB200 NVL72: 18 compute trays of four GPUs, one domain (product brief).
TEST_F(Extends, TheRackIsOneDomain) {
  const auto loaded = load("gb200-nvl72");
  ASSERT_TRUE(loaded) << loaded.error();
  const Profile& rack = loaded.value().profile;
  EXPECT_EQ(rack.hosts.value, 18);
  EXPECT_EQ(rack.gpus_per_host.value, 4);
  EXPECT_EQ(rack.domain_of(0), rack.domain_of(71));
  EXPECT_EQ(rack.multicast_slots.value, 1024u);
}

// torchcomms#3498: 256 ranks; domains of 64.
TEST_F(Extends, TheJobOfTheReportHasFourDomains) {
  const auto loaded = load("gb200-4x64");
  ASSERT_TRUE(loaded) << loaded.error();
  const Profile& job = loaded.value().profile;
  EXPECT_EQ(job.hosts.value * job.gpus_per_host.value, 256);
  EXPECT_EQ(job.domain_of(63), 0);
  EXPECT_EQ(job.domain_of(64), 1);
  EXPECT_EQ(job.domain_of(255), 3);
  EXPECT_NE(job.cluster_uuid, decltype(job.cluster_uuid){});
}

}  // namespace
}  // namespace symmcts::platform

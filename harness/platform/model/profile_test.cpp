// The profiles of fixtures/platforms against what was measured, and the errors of the reader.
#include "harness/platform/model/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace symmcts::platform {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text_of(const std::string& name) {
  std::ifstream in(std::string(SYMMCTS_PLATFORM_FIXTURES) + "/" + name + ".toml");
  EXPECT_TRUE(in) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Profile load(const std::string& name) {
  auto profile = parse_profile(text_of(name), name + ".toml");
  EXPECT_TRUE(profile) << (profile ? "" : profile.error());
  return profile ? profile.value() : Profile{};
}

// The text with its first `from` replaced; the error that the changed text gives.
std::string error_with(const std::string& from, const std::string& to) {
  std::string text = text_of("gb200-nvl2");
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto profile = parse_profile(text, "p.toml");
  EXPECT_FALSE(profile) << from << " -> " << to;
  return profile ? "" : profile.error();
}

TEST(Profile, Gb200IsTheNodeOfTheReports) {
  const Profile p = load("gb200-nvl2");
  EXPECT_EQ(p.name, "gb200-nvl2");
  EXPECT_EQ(p.hosts.value * p.gpus_per_host.value, 2);
  EXPECT_TRUE(p.fabric.value && p.imex_channel.value && p.multicast.value);
  EXPECT_EQ(p.dtod_engine.value, "htod");
  EXPECT_EQ(p.dtod_engine.mark, Mark::reported);
  EXPECT_THAT(p.dtod_engine.source, HasSubstr("pytorch#192530"));
  EXPECT_EQ(p.rule(CopyClass::multicast_native).engine.value, p.rule(CopyClass::htod).engine.value);
  EXPECT_NE(p.rule(CopyClass::peer).engine.value, p.rule(CopyClass::htod).engine.value);
  EXPECT_EQ(p.multicast_granularity_recommended.value, 512u << 20);
}

// fixtures/oracles/h200-x2/copy-paths.txt
TEST(Profile, H200UploadsSixtyFourKibFromPageableMemoryOnTheComputeChannel) {
  const Profile p = load("hgx-h200");
  EXPECT_EQ(p.inline_upload.value, 65536u);
  EXPECT_EQ(p.inline_upload.mark, Mark::measured);
  EXPECT_EQ(p.inline_graph_upload.value, 16384u);
  const CopyRule& rule = p.rule(CopyClass::inline_htod);
  EXPECT_EQ(rule.channel_type.value, 1);
  EXPECT_EQ(rule.engine.value, "compute");
  const auto write = static_cast<double>(p.duration(CopyClass::peer, 64u << 20));
  EXPECT_NEAR(static_cast<double>(p.duration(CopyClass::peer_read, 64u << 20)), 1.05 * write, 2);
}

TEST(Profile, H200SaysFabricButHasNoChannel) {
  const Profile p = load("hgx-h200");
  EXPECT_EQ(p.gpus_per_host.value, 8);
  EXPECT_TRUE(p.fabric.value);
  EXPECT_FALSE(p.imex_channel.value);
  EXPECT_EQ(p.imex_channel.mark, Mark::measured);
  EXPECT_EQ(p.async_engines.value, 3);
  EXPECT_EQ(p.granularity.value, 2u << 20);
}

// errors-latency-sizes: the size sweep, in ns.
TEST(Profile, H200DurationsAreTheMeasuredOnes) {
  const Profile p = load("hgx-h200");
  EXPECT_EQ(p.duration(CopyClass::dtod, 256), 860u);
  EXPECT_EQ(p.duration(CopyClass::peer, 67108864), 171780u);
  EXPECT_EQ(p.duration(CopyClass::htod, 536870912), 9691430u);
  EXPECT_EQ(p.duration(CopyClass::small_htod, 256), 1090u);
  // 256 MiB, from another program (provenance-and-overlap): not in the table, so interpolated.
  EXPECT_NEAR(static_cast<double>(p.duration(CopyClass::peer, 268435456)), 679300, 6793);
  EXPECT_NEAR(static_cast<double>(p.duration(CopyClass::dtod, 268435456)), 126000, 2520);
}

TEST(Profile, DurationIsConstantThenLinearThenProportional) {
  const Profile p = load("hgx-h200");
  EXPECT_EQ(p.duration(CopyClass::dtod, 1), 860u);
  EXPECT_EQ(p.duration(CopyClass::dtod, (16384 + 131072) / 2), (900u + 1060u) / 2);
  EXPECT_EQ(p.duration(CopyClass::dtod, std::uint64_t{536870912} * 4), 253440u * 4);
  // A size whose product with the time would overflow 64 bits.
  EXPECT_EQ(p.duration(CopyClass::htod, std::uint64_t{536870912} << 20), 9691430ull << 20);
}

TEST(Profile, CallCostsAreFoundByName) {
  const Profile p = load("hgx-h200");
  EXPECT_EQ(p.call_cost("cuMemCreate"), 33700u);
  EXPECT_EQ(p.call_cost("cuMemcpyDtoDAsync_v2_ptsz"), p.call_cost("cuMemcpyDtoDAsync"));
  EXPECT_EQ(p.call_cost("cuNoSuchCall"), p.call_cost("default"));
  EXPECT_GT(p.call_cost("poll"), 0u);
}

TEST(Profile, TheDtodEngineCanBeSet) {
  std::string text = text_of("gb200-nvl2");
  const std::string key = "dtod_engine = { value = \"htod\"";
  text.replace(text.find(key), key.size(), "dtod_engine = { value = \"dtoh\"");
  const auto p = parse_profile(text, "p.toml");
  ASSERT_TRUE(p) << p.error();
  EXPECT_EQ(p.value().rule(CopyClass::multicast_native).engine.value, "dtoh");
  EXPECT_THAT(error_with(key, "dtod_engine = { value = \"compute\""),
              EndsWith("'copy.dtod_engine' is 'compute'; it must be htod, dtoh or either"));
}

TEST(ProfileErrors, NameFileLineAndColumn) {
  // The name of the GPU is on line 15, its fact begins in column 8.
  EXPECT_THAT(error_with("name = { value = \"NVIDIA GB200\"", "name = { value = 7"),
              StartsWith("p.toml:15:8: 'gpu.name' needs a string, not an integer"));
  EXPECT_THAT(error_with("[gpu]", "[gpu"), StartsWith("p.toml:14:"));
}

TEST(ProfileErrors, MissingUnknownAndBare) {
  EXPECT_THAT(error_with("multiprocessors = ", "multiprocessor = "),
              HasSubstr("[gpu] lacks the key 'multiprocessors'"));
  EXPECT_THAT(error_with("[gpu]\n", "[gpu]\ncores = 3\n"), HasSubstr("unknown key 'gpu.cores'"));
  EXPECT_THAT(error_with("[gpu]\n", "[gpu2]\n"), HasSubstr("the file lacks the key 'gpu'"));
  EXPECT_THAT(error_with("hosts = { value = 1, mark = \"reported\"", "hosts = 1 #"),
              HasSubstr("'hosts' must be { value = ..., mark"));
  EXPECT_THAT(error_with("schema = \"symm-cts/platform/1\"", "schema = \"other\""),
              HasSubstr("must be \"symm-cts/platform/1\""));
}

TEST(ProfileErrors, EveryFactCarriesMarkAndSource) {
  EXPECT_THAT(error_with("value = 1, mark = \"reported\"", "value = 1, mark = \"guessed\""),
              HasSubstr("is 'guessed'; it must be measured, documented, reported or inferred"));
  EXPECT_THAT(error_with("value = 1, mark = \"reported\",", "value = 1,"),
              HasSubstr("[machine.hosts] lacks the key 'mark'"));
  EXPECT_THAT(
      error_with("source = \"pytorch#192530: profiled on a 2-GPU GB200 node\"", "source = \"\""),
      HasSubstr("every fact names where it comes from"));
}

TEST(ProfileErrors, ValuesOutOfRange) {
  EXPECT_THAT(error_with("hosts = { value = 1,", "hosts = { value = 0,"),
              HasSubstr("'machine.hosts' is 0; it must lie between 1 and 64"));
  EXPECT_THAT(error_with("granularity = { value = 2097152,", "granularity = { value = 2097153,"),
              HasSubstr("must be a power of two"));
  EXPECT_THAT(error_with("[16384, 2254]", "[128, 2254]"),
              HasSubstr("must ascend: more bytes never take less time"));
  EXPECT_THAT(error_with("[16384, 2254]", "[16384]"), HasSubstr("needs [bytes, ns] pairs"));
  EXPECT_THAT(error_with("contends_with = { value = \"dtoh\"", "contends_with = { value = \"x\""),
              HasSubstr("contends with 'x', which no class uses"));
  EXPECT_THAT(error_with("contended_factor = { value = 2.08", "contended_factor = { value = 0.5"),
              HasSubstr("is 0.5; it must lie between 1 and 100"));
  EXPECT_THAT(error_with("poll = { value = 1000", "poll = { value = 0"),
              HasSubstr("'host_ns.poll' is 0"));
}

// What a first user typed. Each number is one that arithmetic on nanoseconds would not survive, or
// that no machine has.
TEST(ProfileErrors, NumbersThatNoMachineHas) {
  const std::string call = "default = { value = 1000", factor = "contended_factor = { value = 2.08";
  for (const char* time : {"9000000000000000000", "60000000001", "-1"}) {
    EXPECT_THAT(error_with(call, std::string("default = { value = ") + time),
                AllOf(HasSubstr("p.toml:"), HasSubstr(std::string("is ") + time),
                      HasSubstr("it must lie between ")));
  }
  EXPECT_THAT(error_with(call, "default = { value = 9e18"),
              HasSubstr("needs an integer, not a float"));
  for (const char* number : {"1e300", "inf", "-inf", "nan", "-2.0", "9007199254740993"}) {
    EXPECT_THAT(error_with(factor, std::string("contended_factor = { value = ") + number),
                HasSubstr("it must lie between 1 and 100"));
  }
  EXPECT_THAT(error_with("[16384, 2254]", "[16384, 9000000000000000000]"),
              HasSubstr("ns at most 60000000000"));
  EXPECT_THAT(error_with("write_ns = { value = ", "write_ns = { value = 9223372036854775807, #"),
              HasSubstr("p.toml:"));
  EXPECT_THAT(error_with("channel_base = { value = ", "channel_base = { value = 2147483647 #"),
              HasSubstr("p.toml:"));
  EXPECT_THAT(error_with("memory = { value = 186000000000", "memory = { value = 9e18"),
              HasSubstr("needs an integer"));
  EXPECT_THAT(error_with("memory = { value = 186000000000", "memory = { value = 1125899906842625"),
              HasSubstr("is 1125899906842625; it must lie between 1048576 and 1125899906842624"));
}

// One entry alone is within bounds, but it makes a rate: 60 s for each 2 KiB.
TEST(ProfileErrors, ARateByWhichNoCopyEverEnds) {
  std::string text = text_of("hgx-h200");
  const auto from = text.find("duration = { value = ["), to = text.find("], mark", from);
  text.replace(from, to - from, "duration = { value = [[2048, 60000000000]");
  const auto profile = parse_profile(text, "p.toml");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error(), HasSubstr("a GPU's whole memory takes longer than an hour"));
}

// An ordinal is that of a GPU in a process: gb200-nvl2 has two a host.
TEST(ProfileErrors, AnApertureOrdinalBeyondTheGpus) {
  EXPECT_THAT(error_with("aperture_ordinal = { value = 0", "aperture_ordinal = { value = 2"),
              EndsWith("'multicast.aperture_ordinal' is 2; it must lie between 0 and 1"));
}

TEST(ProfileErrors, CallsAreThoseOfTheDriver) {
  const std::string poll = "poll = { value = 1000";
  const auto with = [&](const std::string& key) {
    return key +
           " = { value = 7, mark = \"inferred\", "
           "source = \"x\" }\n" +
           poll;
  };
  for (const char* wrong : {"cuMemCreat", "cudaMemcpy", "Default", "cuMemCreate_v2"}) {
    EXPECT_THAT(error_with(poll, with(wrong)),
                AllOf(StartsWith("p.toml:"), HasSubstr(std::string("'host_ns.") + wrong +
                                                       "' is no "
                                                       "function that the platform exports")));
  }
  // A name of the API, one of the library, and one that is exported but not modelled.
  for (const char* right : {"cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2_ptsz", "cuLaunchKernel"}) {
    std::string text = text_of("gb200-nvl2");
    if (text.find(std::string("\n") + right + " = ") != std::string::npos) continue;
    text.replace(text.find(poll), poll.size(), with(right));
    const auto profile = parse_profile(text, "p.toml");
    ASSERT_TRUE(profile) << profile.error();
    EXPECT_EQ(profile.value().call_cost(right), 7u);
  }
}

TEST(ProfileErrors, AnEmptyFileIsToldAllThatItLacks) {
  for (const char* text : {"", "# nothing\n"}) {
    const auto profile = parse_profile(text, "p.toml");
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error(),
              "p.toml:1:1: the file lacks the keys 'schema', 'name', 'summary', 'machine', 'gpu', "
              "'sharing', 'multicast', 'copy', 'host_ns', 'word', 'fabric', 'management'");
  }
}

}  // namespace
}  // namespace symmcts::platform

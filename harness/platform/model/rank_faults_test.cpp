#include "harness/platform/model/rank_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/fault_plan.hpp"
#include "harness/platform/model/scenario.hpp"

namespace symmcts::platform {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<RankFault> read(std::string_view text) {
  const auto scenario = parse_scenario(text, "s.toml");
  EXPECT_TRUE(scenario) << scenario.error();
  return scenario ? scenario.value().rank_faults : std::vector<RankFault>();
}

std::string error_of(std::string_view text) {
  const auto scenario = parse_scenario(text, "s.toml");
  EXPECT_FALSE(scenario) << text;
  return scenario ? std::string() : scenario.error();
}

std::vector<std::string> texts(const FaultPlan::Due& due) {
  std::vector<std::string> out;
  for (const RankFault* fault : due.faults) out.push_back(fault_text(*fault, due.number));
  return out;
}

constexpr char kAll[] = R"(
[[kill]]
rank = 3
phase = "bind"
[[fail]]
rank = 1
call = "cuMulticastBindMem"
number = 2
times = 3
code = "CUDA_ERROR_SYSTEM_NOT_READY"
[[fail]]
rank = 0
call = "cuMemMap"
code = 2
[[stall]]
rank = 0
call = "cuMemMap"
ns = 7_000
[[stop]]
rank = 2
after = "cuMemRelease"
number = 4
[[kill]]
rank = 2
before = "cuMemRelease"
)";

TEST(RankFaults, AreReadKindByKindEachWithItsPlaceInTheFile) {
  std::vector<std::string> entries, lines;
  for (const RankFault& fault : read(kAll)) {
    entries.push_back(fault.entry);
    lines.push_back(fault_text(fault));
  }
  EXPECT_THAT(entries,
              ElementsAre("fail[0]", "fail[1]", "stall[0]", "kill[0]", "kill[1]", "stop[0]"));
  EXPECT_THAT(lines,
              ElementsAre("rank 1: cuMulticastBindMem, call 2 to 4, fails with "
                          "CUDA_ERROR_SYSTEM_NOT_READY (802)",
                          "rank 0: cuMemMap, call 1, fails with CUDA_ERROR_OUT_OF_MEMORY (2)",
                          "rank 0: cuMemMap, call 1, stalls for 7000 ns",
                          "rank 3: is killed as it begins phase bind",
                          "rank 2: is killed before cuMemRelease, call 1",
                          "rank 2: is stopped after cuMemRelease, call 4"));
}

// What could never take place, and would be missed by nobody, is an error with its place.
TEST(RankFaults, ErrorsNameFileLineAndColumn) {
  const std::string fail = "[[fail]]\nrank = 1\ncall = \"cuMemMap\"\n";
  EXPECT_THAT(error_of(fail), StartsWith("s.toml:1:1: lacks the key 'code'"));
  EXPECT_THAT(error_of(fail + "code = 803000\n"),
              StartsWith("s.toml:4:8: 'code' is 803000, which is no error of the driver"));
  EXPECT_THAT(error_of(fail + "code = 0\n"), HasSubstr("is 0, which is no error"));
  EXPECT_THAT(error_of(fail + "code = \"CUDA_SUCCESS\"\n"), HasSubstr("is no error"));
  EXPECT_THAT(error_of(fail + "code = \"NOT_READY\"\n"),
              StartsWith("s.toml:4:8: 'code' is 'NOT_READY', which is no error"));
  EXPECT_THAT(error_of(fail + "code = true\n"), HasSubstr("a number or a name"));
  EXPECT_THAT(error_of(fail + "code = 802\nns = 1\n"), StartsWith("s.toml:5:6: unknown key 'ns'"));
  EXPECT_THAT(error_of(fail + "code = 802\nnumber = 0\n"),
              StartsWith("s.toml:5:10: 'number' must be an integer from 1"));
  EXPECT_THAT(error_of(fail + "code = 802\ntimes = -1\n"), HasSubstr("'times' must be"));
  EXPECT_THAT(error_of("[[fail]]\nrank = 1\ncall = \"cuMemMapp\"\ncode = 1\n"),
              StartsWith("s.toml:3:8: 'call' is 'cuMemMapp', which is no function"));
  EXPECT_THAT(error_of("[[fail]]\nrank = 1\ncall = \"cuInit\"\ncode = 1\n"),
              StartsWith("s.toml:3:8: 'call' is 'cuInit', which needs no machine"));
  EXPECT_THAT(error_of("[[fail]]\ncall = \"cuMemMap\"\ncode = 1\n"),
              HasSubstr("lacks the key 'rank'"));
  EXPECT_THAT(error_of("[fail]\nrank = 1\n"), HasSubstr("must be written as [[fail]]"));
  EXPECT_THAT(error_of("[[stall]]\nrank = 1\ncall = \"cuMemMap\"\n"),
              HasSubstr("lacks the key 'ns'"));
  EXPECT_THAT(error_of("[[kill]]\nrank = 1\n"),
              StartsWith("s.toml:1:1: lacks one of the keys 'phase', 'before' and 'after'"));
  EXPECT_THAT(error_of("[[kill]]\nrank = 1\nphase = \"bind\"\nafter = \"cuMemMap\"\n"),
              StartsWith("s.toml:4:9: has 'phase' and 'after'"));
  EXPECT_THAT(error_of("[[stop]]\nrank = 1\nphase = \"bnid\"\n"),
              StartsWith("s.toml:3:9: 'phase' is 'bnid', which is no phase; there are: construct"));
  EXPECT_THAT(error_of("[[stop]]\nrank = 1\nphase = \"bind\"\ntimes = 2\n"),
              StartsWith("s.toml:4:9: unknown key 'times'"));
}

TEST(FaultPlan, CountsTheCallsOfItsRankOnly) {
  FaultPlan plan(read(kAll), 1);
  EXPECT_TRUE(plan.any());
  EXPECT_FALSE(FaultPlan(read(kAll), 4).any());
  EXPECT_THAT(texts(plan.call("cuMulticastBindMem")), ElementsAre());
  EXPECT_THAT(texts(plan.call("cuMemMap")), ElementsAre()) << "it is for rank 0";
  EXPECT_THAT(texts(plan.call("cuMulticastBindMem")),
              ElementsAre("rank 1: cuMulticastBindMem, call 2, fails with "
                          "CUDA_ERROR_SYSTEM_NOT_READY (802)"));
  EXPECT_EQ(plan.call("cuMulticastBindMem").faults.size(), 1u);
  EXPECT_EQ(plan.call("cuMulticastBindMem").faults.size(), 1u);
  EXPECT_EQ(plan.call("cuMulticastBindMem").faults.size(), 0u) << "three times in all";
}

TEST(FaultPlan, SeveralCanBefallOneCall) {
  FaultPlan plan(read(kAll), 0);
  EXPECT_THAT(texts(plan.call("cuMemMap")),
              ElementsAre("rank 0: cuMemMap, call 1, fails with CUDA_ERROR_OUT_OF_MEMORY (2)",
                          "rank 0: cuMemMap, call 1, stalls for 7000 ns"));
}

TEST(FaultPlan, APhaseIsNoCall) {
  FaultPlan plan(read("[[stop]]\nrank = 0\nphase = \"bind\"\nnumber = 2\n"), 0);
  EXPECT_TRUE(plan.call("bind").faults.empty());
  EXPECT_TRUE(plan.phase("bind").faults.empty());
  EXPECT_THAT(texts(plan.phase("bind")),
              ElementsAre("rank 0: is stopped as it begins phase bind, time 2"));
}

}  // namespace
}  // namespace symmcts::platform

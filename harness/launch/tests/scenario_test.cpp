// How a unit ends from which the scenario takes a rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "harness/launch/listing.hpp"
#include "harness/launch/machine_log.hpp"
#include "harness/launch/processes.hpp"
#include "harness/launch/tests/scratch.hpp"
#include "harness/launch/unit.hpp"

namespace symmcts::launch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ScenarioUnit : public ::testing::TestWithParam<Launcher> {
 protected:
  UnitResult run(const std::string& how) {
    UnitRequest request = request_for(scratch_, "Test." + how, GetParam());
    request.scenario = scratch_.path() / "s.toml";
    request.patience.survivors = std::chrono::milliseconds(500);
    UnitResult result = run_unit(request, environment_for(scratch_));
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.tmp())) << "the run directory is left";
    EXPECT_TRUE(living_descendants(getpid()).empty()) << "a process is left";
    EXPECT_FALSE(result.stop) << "nobody interfered";
    return result;
  }
  std::string machine(const std::string& how) {
    return scratch_.read("out/evidence/Test." + how + "/machine.jsonl");
  }
  Scratch scratch_;
};

INSTANTIATE_TEST_SUITE_P(Launchers, ScenarioUnit,
                         ::testing::Values(Launcher::fork, Launcher::mpirun), [](const auto& info) {
                           return info.param == Launcher::fork ? "Fork" : "Mpirun";
                         });

// The other rank gives up and names it: no error of ours, no crash of the implementation.
TEST_P(ScenarioUnit, AKilledRankIsLost) {
  const UnitResult result = run("ScenarioKill");
  EXPECT_EQ(result.end, End::lost) << result.text;
  EXPECT_THAT(result.text, StartsWith("by the scenario rank 1: is killed before cuMemMap, call 1"));
  EXPECT_THAT(result.blamed, IsEmpty());
  EXPECT_THAT(machine("ScenarioKill"), HasSubstr(R"("end":"lost")"));
  EXPECT_THAT(machine("ScenarioKill"), HasSubstr(R"("type":"fault","rank":1,"t":7,)"));
}

// A rank that stands still is not waited for.
TEST_P(ScenarioUnit, AStoppedRankIsLost) {
  const UnitResult result = run("ScenarioStop");
  EXPECT_EQ(result.end, End::lost) << result.text;
  EXPECT_THAT(result.text, StartsWith("by the scenario rank 1: is stopped before cuMemMap"));
}

TEST_P(ScenarioUnit, WhoCrashesOverItIsToBlame) {
  const UnitResult result = run("ScenarioCrash");
  EXPECT_EQ(result.end, End::crash) << result.text;
  if (GetParam() == Launcher::fork) {
    EXPECT_THAT(result.blamed, ElementsAre(0));
  }
}

TEST_P(ScenarioUnit, WhoWaitsForItForEverHangs) {
  const UnitResult result = run("ScenarioHang");
  EXPECT_EQ(result.end, End::hang) << result.text;
  EXPECT_THAT(result.text, HasSubstr("nothing can move"));
}

TEST(ScenarioReport, WhatNeverCameToBeIsTold) {
  const Scratch scratch;
  const std::filesystem::path report = scratch.path() / "report.jsonl";
  std::ofstream(report)
      << R"({"type":"plan","faults":[{"type":"fault","rank":1,"t":null,"entry":"fail[0]","text":"a"},)"
      << R"({"type":"fault","rank":0,"t":null,"entry":"kill[0]","text":"b"}]})"
      << "\n"
      << R"({"type":"fault","rank":1,"t":9,"entry":"fail[0]","kind":"fail","text":"a"})"
      << "\n"
      << R"({"type":"fault","rank":0,"t":9,"entry":"kill[0]","ki)";
  EXPECT_THAT(
      other_lines(report),
      ElementsAre(R"({"type":"fault","rank":1,"t":9,"entry":"fail[0]","kind":"fail","text":"a"})",
                  R"({"type":"fault","rank":0,"t":null,"entry":"kill[0]",)"
                  R"("text":"b: it never came to that"})"));
  EXPECT_THAT(read_victims(report), IsEmpty()) << "the line is not whole yet";
  EXPECT_THAT(read_victims(scratch.path() / "none"), IsEmpty());
}

TEST(ScenarioCheck, SaysWhatTheBrokerSays) {
  const Scratch scratch;
  const UnitRequest request = request_for(scratch, "Test.Good", Launcher::fork);
  const Status good = check_scenario(request, "good.toml", environment_for(scratch));
  EXPECT_TRUE(good) << good.error();
  const Status bad = check_scenario(request, "bad.toml", environment_for(scratch));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), "bad.toml:3:9: unknown key 'slots'");
  EXPECT_TRUE(std::filesystem::is_empty(scratch.tmp()));
}

}  // namespace
}  // namespace symmcts::launch::testing

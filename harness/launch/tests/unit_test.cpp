// How a unit ends, for every way in which its ranks can end.
#include "harness/launch/unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/launch/processes.hpp"
#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class UnitEnds : public ::testing::TestWithParam<Launcher> {
 protected:
  UnitResult run(const std::string& how, const Patience& patience = {}) {
    UnitRequest request = request_for(scratch_, "Test." + how, GetParam());
    request.patience = patience;
    UnitResult result = run_unit(request, environment_for(scratch_));
    EXPECT_TRUE(std::filesystem::is_empty(scratch_.tmp())) << "the run directory is left";
    EXPECT_TRUE(living_descendants(getpid()).empty()) << "a process is left";
    return result;
  }
  std::string machine(const std::string& how) {
    return scratch_.read("out/evidence/Test." + how + "/machine.jsonl");
  }
  Scratch scratch_;
};

INSTANTIATE_TEST_SUITE_P(Launchers, UnitEnds, ::testing::Values(Launcher::fork, Launcher::mpirun),
                         [](const auto& info) {
                           return info.param == Launcher::fork ? "Fork" : "Mpirun";
                         });

TEST_P(UnitEnds, DoneWhenEveryRankGaveItsVerdict) {
  const UnitResult result = run("Good");
  EXPECT_EQ(result.end, End::done) << result.text;
  EXPECT_FALSE(result.stop);
  EXPECT_THAT(machine("Good"), HasSubstr(R"("end":"done")"));
  for (const char* file : {"rank-000000.jsonl", "rank-000001.jsonl"}) {
    EXPECT_THAT(scratch_.read(std::string("out/evidence/Test.Good/") + file),
                HasSubstr(R"("type":"footer")"));
  }
}

TEST_P(UnitEnds, DoneAlsoWhenARankLeavesADaemonWhichIsEnded) {
  EXPECT_EQ(run("Daemon").end, End::done);
}

TEST_P(UnitEnds, CrashNamesRankSignalAndPhase) {
  Patience patience;
  patience.survivors = std::chrono::milliseconds(300);
  const UnitResult result = run("Crash", patience);
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, HasSubstr("rank 1 was killed by signal 11 (SIGSEGV) in phase import"));
  EXPECT_FALSE(result.stop);
  EXPECT_THAT(machine("Crash"),
              HasSubstr(R"({"type":"exit","rank":1,"case":"Test.Crash","signal":11})"));
}

TEST_P(UnitEnds, KillFromOutsideIsACrashAndStopsTheRun) {
  const UnitResult result = run("Killed");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, HasSubstr("rank 1 was killed by signal 9"));
  EXPECT_TRUE(result.stop);
}

TEST_P(UnitEnds, AnExitCodeThatIsNoVerdictIsACrash) {
  const UnitResult result = run("ExitSeven");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, HasSubstr("exited with 7"));
}

TEST_P(UnitEnds, ARefusalIsAnErrorWithTheRanksOwnWords) {
  const UnitResult result = run("Refuse");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("exited with 3"));
  EXPECT_THAT(result.text, HasSubstr("real driver found, the platform was expected"));
}

TEST_P(UnitEnds, ExitZeroWithoutVerdictIsNeverGreen) {
  EXPECT_EQ(run("NoVerdict").end, End::error);
  const UnitResult missing = run("Missing");
  EXPECT_EQ(missing.end, End::error);
  EXPECT_EQ(missing.text, "rank 1 left no evidence");
  const UnitResult cut = run("NoFooter");
  EXPECT_EQ(cut.end, End::error);
  EXPECT_THAT(cut.text, HasSubstr("rank 1"));
}

TEST_P(UnitEnds, GarbageInTheEvidenceIsAnError) {
  const UnitResult result = run("Garbage");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("rank 1 left garbage in its evidence: line 3"));
}

TEST_P(UnitEnds, AFloodOfOutputIsAnErrorAndIsNotKept) {
  Patience patience;
  patience.output_limit = 4u << 20;
  const UnitResult result = run("Flood", patience);
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("printed more than 4194304 bytes"));
  for (const auto& file :
       std::filesystem::directory_iterator(scratch_.out() / "host" / "Test.Flood")) {
    EXPECT_LT(file.file_size(), 2u << 20) << file.path();
  }
}

TEST_P(UnitEnds, AStandstillIsAHangThatNamesEveryRanksPhase) {
  Patience patience;
  patience.stall = std::chrono::milliseconds(1500);
  const UnitResult result = run("Hang", patience);
  EXPECT_EQ(result.end, End::hang) << result.text;
  EXPECT_THAT(result.text, HasSubstr("nothing moved for 1.5 s"));
  EXPECT_THAT(result.text, HasSubstr("rank 0 in phase import (cuMulticastBindMem)"));
  EXPECT_THAT(result.text, HasSubstr("rank 1 in phase import (cuMulticastBindMem)"));
  EXPECT_THAT(machine("Hang"), HasSubstr(R"("source":"watchdog")"));
  EXPECT_THAT(machine("Hang"),
              HasSubstr(R"({"rank":1,"phase":"import","where":"cuMulticastBindMem"})"));
}

TEST_P(UnitEnds, WhatTheBrokerSaysBesideAHangIsKeptInAnOrderOfItsOwn) {
  const UnitResult result = run("Misuse");
  EXPECT_EQ(result.end, End::done) << result.text;
  const std::string lines = machine("Misuse");
  const auto later = lines.find(R"({"type":"misuse","rank":0,"t":9,"kind":"leak","text":"left"})");
  const auto earlier =
      lines.find(R"({"type":"misuse","rank":1,"t":5,"kind":"leak","text":"left"})");
  ASSERT_NE(later, std::string::npos) << lines;
  ASSERT_NE(earlier, std::string::npos) << lines;
  EXPECT_LT(earlier, later) << "by time, whoever was heard first";
}

TEST_P(UnitEnds, TheTotalClockEndsAUnitToo) {
  Patience patience;
  patience.total = std::chrono::milliseconds(1500);
  const UnitResult result = run("Hang", patience);
  EXPECT_EQ(result.end, End::hang);
  EXPECT_THAT(result.text, HasSubstr("the unit took longer than 1.5 s"));
}

TEST_P(UnitEnds, ARankThatIgnoresSigtermIsKilled) {
  Patience patience;
  patience.stall = std::chrono::milliseconds(1500);
  patience.terminate = std::chrono::milliseconds(300);
  EXPECT_EQ(run("Stubborn", patience).end, End::hang);
}

TEST_P(UnitEnds, TheBrokersReportEndsAUnitWithoutWaitingForAClock) {
  Patience patience;  // minutes: only the report can end this test in time
  const UnitResult result = run("Deadlock", patience);
  EXPECT_EQ(result.end, End::hang);
  EXPECT_THAT(machine("Deadlock"), HasSubstr(R"("source":"platform")"));
  EXPECT_THAT(machine("Deadlock"), HasSubstr(R"("missing":["gpu 1"])"));
  EXPECT_THAT(result.text, HasSubstr("nothing can move; rank 0 in phase import"));
}

TEST_P(UnitEnds, AProgramThatCannotStartIsAnError) {
  UnitRequest request = request_for(scratch_, "Test.Good", GetParam());
  request.programs.rank = "/nonexistent/rank";
  const UnitResult result = run_unit(request, environment_for(scratch_));
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("/nonexistent/rank"));
  request = request_for(scratch_, "Test.Good", GetParam());
  request.programs.broker = "/nonexistent/broker";
  EXPECT_THAT(run_unit(request, environment_for(scratch_)).text,
              HasSubstr("cannot start broker (/nonexistent/broker): No such file"));
}

TEST_P(UnitEnds, MachineLogHoldsNothingThatDiffersFromRunToRun) {
  Patience patience;
  run("Deadlock", patience);
  const std::string first = machine("Deadlock");
  EXPECT_THAT(first, Not(HasSubstr(scratch_.tmp().string())));
  run("Deadlock", patience);
  EXPECT_EQ(first, machine("Deadlock"));
}

}  // namespace
}  // namespace symmcts::launch::testing

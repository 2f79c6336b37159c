// How a unit ends, for every way in which its ranks can end.
#include "harness/launch/unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/launch/processes.hpp"
#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST_P(UnitEnds, ARankThatEndsItselfAfterAnotherIsNotBlamed) {
  const UnitResult result = run("Chain");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, StartsWith("rank 0 was killed by signal 11 (SIGSEGV) in phase import"));
  EXPECT_THAT(result.blamed, ElementsAre(0));
  if (GetParam() == Launcher::fork) {
    EXPECT_THAT(result.text, HasSubstr("; then rank 1 exited with code 9 before the end"));
  }
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
  EXPECT_EQ(result.text, "rank 1 exited with code 7 before the end in phase import");
  EXPECT_THAT(result.blamed, ElementsAre(1));
  EXPECT_FALSE(result.stop);
}

// 3 is what the rank program itself ends with: only together with its word for it is it ours.
TEST_P(UnitEnds, AnExitOfTheImplementationIsNoRefusal) {
  const UnitResult result = run("ExitThree");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, StartsWith("rank 1 "));
  EXPECT_THAT(result.text, HasSubstr("before the end in phase import"));
  EXPECT_THAT(result.blamed, ElementsAre(1));
}

TEST_P(UnitEnds, AnExceptionIsACrashOfTheRankThatThrew) {
  const UnitResult result = run("Throw");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_EQ(result.text, "rank 1 threw in phase import: boom");
  EXPECT_THAT(result.blamed, ElementsAre(1));
  EXPECT_THAT(machine("Throw"), HasSubstr(R"("end":"crash","ranks":[1],"text":"rank 1 threw)"));
}

TEST_P(UnitEnds, AnUncaughtExceptionIsTold) {
  const UnitResult result = run("Abort");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_EQ(result.text, "rank 1 was killed by signal 6 (SIGABRT) in phase import: boom");
}

TEST_P(UnitEnds, ARefusalIsAnErrorWithTheRanksOwnWords) {
  const UnitResult result = run("Refuse");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("exited with code 3"));
  EXPECT_THAT(result.text, HasSubstr("real driver found, the platform was expected"));
}

TEST_P(UnitEnds, AFailureOfOurOwnIsAnErrorAlsoInTheMiddle) {
  const UnitResult result = run("GiveUp");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text,
              ContainsRegex("^rank [01] gave up in phase import: cuMemAlloc: CUDA_ERROR_OUT"));
}

// What is known of the rank that nobody could reach is only that.
TEST_P(UnitEnds, ARankThatWasGoneIsToBlameThoughItEndedWell) {
  const UnitResult result = run("Gone");
  EXPECT_EQ(result.end, End::crash);
  EXPECT_EQ(result.text, "rank 1 was gone before the end in phase import");
  EXPECT_THAT(result.blamed, ElementsAre(1));
}

TEST_P(UnitEnds, RanksThatBlameEachOtherAreAnError) {
  const UnitResult result = run("BothGone");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("the other is gone"));
}

TEST_P(UnitEnds, ExitZeroWithoutVerdictIsNeverGreen) {
  for (const char* how : {"NoVerdict", "NoFooter"}) {
    const UnitResult result = run(how);
    EXPECT_EQ(result.end, End::crash) << how;
    EXPECT_THAT(result.text, StartsWith("rank 1 exited")) << how;
    EXPECT_THAT(result.text, HasSubstr("before the end in phase import")) << how;
    EXPECT_THAT(result.blamed, ElementsAre(1)) << how;
  }
  const UnitResult missing = run("Missing");
  EXPECT_EQ(missing.end, End::error);
  EXPECT_EQ(missing.text, "rank 1 left no evidence");
}

TEST_P(UnitEnds, GarbageInTheEvidenceIsAnError) {
  const UnitResult result = run("Garbage");
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("rank 1 left garbage in its evidence: line 3"));
}

TEST_P(UnitEnds, AFloodOfOutputIsACrashAndIsNotKept) {
  Patience patience;
  patience.output_limit = 4u << 20;
  const UnitResult result = run("Flood", patience);
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, StartsWith("rank 1 printed more than 4194304 bytes on stderr"));
  EXPECT_THAT(result.blamed, ElementsAre(1));
  EXPECT_FALSE(result.stop);
  if (GetParam() == Launcher::fork) {
    EXPECT_THAT(result.text, HasSubstr("in phase import"));
  }
  for (const auto& file :
       std::filesystem::directory_iterator(scratch_.out() / "host" / "Test.Flood")) {
    EXPECT_LT(file.file_size(), 2u << 20) << file.path();
  }
}

// Whoever is quicker, the program or we: what it printed counts.
TEST_P(UnitEnds, AFloodCountsAlsoOfAProgramThatHasEnded) {
  Patience patience;
  patience.output_limit = 4u << 20;
  const UnitResult result = run("FloodAndLeave", patience);
  EXPECT_EQ(result.end, End::crash);
  EXPECT_THAT(result.text, StartsWith("rank 1 printed more than 4194304 bytes on stdout"));
}

TEST_P(UnitEnds, EvidenceWithoutEndIsACrash) {
  Patience patience;
  patience.evidence_limit = 1u << 20;
  const UnitResult result = run("MuchEvidence", patience);
  EXPECT_EQ(result.end, End::crash);
  EXPECT_EQ(result.text, "rank 1 left more than 1048576 bytes of evidence in phase spin");
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

// A broker never has a socket in the moment in which it is started.
TEST_P(UnitEnds, TheStartOfTheBrokerDoesNotCount) {
  Patience patience;
  patience.total = std::chrono::milliseconds(0);
  const UnitResult result = run("Hang", patience);
  EXPECT_EQ(result.end, End::hang);
  EXPECT_THAT(result.text, HasSubstr("the unit took longer than 0 s"));
}

TEST_P(UnitEnds, RanksThatNeverBeginAreAnError) {
  Patience patience;
  patience.start = std::chrono::milliseconds(1500);
  const UnitResult result = run("Mute", patience);
  EXPECT_EQ(result.end, End::error);
  EXPECT_THAT(result.text, HasSubstr("1 of 2 ranks had not begun their evidence after 1.5 s"));
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

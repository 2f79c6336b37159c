// What Open MPI 4.1.4 printed when a rank ended badly, with --tag-output; taken down from it.
#include "harness/launch/mpirun_report.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "harness/launch/tests/scratch.hpp"

namespace symmcts::launch::testing {
namespace {

class MpirunReportTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) const {
    const auto path = scratch_.path() / "mpirun.err";
    std::ofstream(path) << text;
    return path;
  }
  static Exit exited(int value) { return {.known = true, .signaled = false, .value = value}; }

  Scratch scratch_;
};

TEST_F(MpirunReportTest, ACodeIsTheRanks) {
  const auto report = read_mpirun_report(
      file("mpirun detected that one or more processes exited with non-zero status, thus causing\n"
           "the job to be terminated. The first process to do so was:\n\n"
           "  Process name: [[31337,1],1]\n  Exit code:    7\n"),
      exited(7));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rank, 1);
  EXPECT_FALSE(report->exit.signaled);
  EXPECT_EQ(report->exit.value, 7);
}

TEST_F(MpirunReportTest, ASignalIsTheRanks) {
  const auto report = read_mpirun_report(
      file("mpirun noticed that process rank 3 with PID 0 on node vm exited on signal 11 "
           "(Segmentation fault).\n"),
      exited(139));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rank, 3);
  EXPECT_TRUE(report->exit.signaled);
  EXPECT_EQ(report->exit.value, 11);
}

// It says 1; the rank has called exit(0) without MPI_Finalize.
TEST_F(MpirunReportTest, AnImproperEndIsExitZero) {
  const auto report = read_mpirun_report(
      file("mpirun has exited due to process rank 1 with PID 0 on\nnode vm exiting improperly. "
           "There are three reasons this could occur:\n"),
      exited(1));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rank, 1);
  EXPECT_EQ(report->exit.value, 0);
}

TEST_F(MpirunReportTest, NothingWhereMpirunEndedWellOrWasEnded) {
  EXPECT_FALSE(read_mpirun_report(file(""), exited(0)));
  EXPECT_FALSE(read_mpirun_report(file(""), Exit{}));
  EXPECT_EQ(read_mpirun_report(file("no such option\n"), exited(1))->rank, -1);
}

TEST_F(MpirunReportTest, TheLoudestRankIsTheOneWithMostBytes) {
  EXPECT_EQ(loudest_rank(file("[1,0]<stdout>:a\n[1,12]<stdout>:" + std::string(100, 'x') +
                              "\n[1,0]<stdout>:b\n[1,0]<stdout>:c\n")),
            12);
  EXPECT_EQ(loudest_rank(file("]<std ,]<std ,x]<stdout>: 9]<std")), -1);
  EXPECT_EQ(loudest_rank(file("")), -1);
}

// As a rank that floods makes it: the tags come in thousands.
TEST_F(MpirunReportTest, ALongFileIsReadOnce) {
  std::string text;
  while (text.size() < 8u << 20) text += "[1,1]<stdout>:" + std::string(1024, 'x') + "\n";
  EXPECT_EQ(loudest_rank(file(text)), 1);
}

}  // namespace
}  // namespace symmcts::launch::testing

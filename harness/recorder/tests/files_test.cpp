#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/recorder/environment.hpp"
#include "harness/recorder/writer.hpp"

namespace symmcts::recorder {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-writer-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::string folder_;
};

TEST_F(Files, EachLineIsOnDiskAtOnce) {
  Writer writer;
  const std::string path = folder_ + "/rank-0.jsonl";
  ASSERT_EQ(writer.open(path), path);
  writer.append("{}");
  EXPECT_EQ(read(path), "{}\n");
  writer.append("[1]");
  EXPECT_EQ(read(path), "{}\n[1]\n");
}

TEST_F(Files, AFileThatTheSupervisorMadeIsTaken) {
  const std::string path = folder_ + "/rank-0.jsonl";
  std::ofstream(path).flush();
  Writer writer;
  EXPECT_EQ(writer.open(path), path);
}

TEST_F(Files, TwoProcessesOfOneRankDoNotMix) {
  const std::string path = folder_ + "/rank-0.jsonl";
  Writer first, second;
  ASSERT_EQ(first.open(path), path);  // holds it, though nothing is written yet
  EXPECT_EQ(second.open(path), path + ".2");
  first.append("1");
  second.append("2");
  Writer third;
  EXPECT_EQ(third.open(path), path + ".3");
  EXPECT_EQ(read(path), "1\n");
  EXPECT_EQ(read(path + ".2"), "2\n");
}

TEST_F(Files, AFileThatTakesNoMoreIsGivenUp) {
  std::filesystem::create_symlink("/dev/full", folder_ + "/full");
  Writer writer;
  ASSERT_EQ(writer.open(folder_ + "/full"), folder_ + "/full");
  EXPECT_FALSE(writer.append("{}"));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_TRUE(writer.append("{}"));  // said already
  EXPECT_TRUE(writer.close());
}

TEST_F(Files, AFolderThatIsNotThereIsAnError) {
  Writer writer;
  EXPECT_EQ(writer.open(folder_ + "/none/rank-0.jsonl"), "");
  writer.append("dropped");
}

class Variables : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"SYMMCTS_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID",
                             "RANK", "SYMMCTS_SIZE", "OMPI_COMM_WORLD_SIZE", "WORLD_SIZE",
                             "SYMMCTS_EVIDENCE", "SYMMCTS_HOST"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Variables, TheFirstRankVariableCounts) {
  setenv("RANK", "5", 1);
  EXPECT_EQ(read_environment().rank, 5);
  setenv("OMPI_COMM_WORLD_RANK", "4", 1);
  EXPECT_EQ(read_environment().rank, 4);
  setenv("SYMMCTS_RANK", "3", 1);
  EXPECT_EQ(read_environment().rank, 3);
}

// Taken for 0, or passed over, it would put this process's evidence under another rank's name.
TEST_F(Variables, WhatIsNoNumberIsNamed) {
  for (const char* value : {"abc", "-1", "2x", "0.5", " 1", "99999999999"}) {
    setenv("RANK", value, 1);
    EXPECT_EQ(read_environment().problem,
              std::string("RANK=") + value + ": must be a whole number from 0 to 2147483647");
  }
  setenv("SYMMCTS_RANK", "1", 1);  // RANK is not asked any more
  EXPECT_EQ(read_environment().problem, "");
  setenv("OMPI_COMM_WORLD_RANK", "", 1);
  unsetenv("SYMMCTS_RANK");
  setenv("RANK", "2", 1);
  EXPECT_EQ(read_environment().rank, 2);
  setenv("WORLD_SIZE", "0", 1);
  EXPECT_EQ(read_environment().problem,
            "WORLD_SIZE=0: must be a whole number from 1 to 2147483647");
  setenv("WORLD_SIZE", "4", 1);
  setenv("SYMMCTS_HOST", "h1", 1);
  EXPECT_EQ(read_environment().problem,
            "SYMMCTS_HOST=h1: must be a whole number from 0 to 2147483647");
}

TEST_F(Variables, TheEvidenceFileIsNamedByRank) {
  setenv("SYMMCTS_RANK", "12", 1);
  setenv("SYMMCTS_EVIDENCE", "/x/%r/rank-%r.jsonl", 1);
  EXPECT_EQ(read_environment().evidence, "/x/12/rank-12.jsonl");
}

TEST_F(Variables, WithoutAnyThereIsOneUnrecordedRank) {
  const Environment environment = read_environment();
  EXPECT_EQ(environment.rank, 0);
  EXPECT_EQ(environment.world, 1);
  EXPECT_EQ(environment.evidence, "");
}

}  // namespace
}  // namespace symmcts::recorder

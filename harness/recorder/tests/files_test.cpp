#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
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
  writer.append(Line::mark, "{}");
  EXPECT_EQ(read(path), "{}\n");
  writer.append(Line::mark, "[1]");
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
  first.append(Line::mark, "1");
  second.append(Line::mark, "2");
  Writer third;
  EXPECT_EQ(third.open(path), path + ".3");
  EXPECT_EQ(read(path), "1\n");
  EXPECT_EQ(read(path + ".2"), "2\n");
}

TEST_F(Files, AFileThatTakesNoMoreIsGivenUp) {
  std::filesystem::create_symlink("/dev/full", folder_ + "/full");
  Writer writer;
  ASSERT_EQ(writer.open(folder_ + "/full"), folder_ + "/full");
  EXPECT_FALSE(writer.append(Line::header, "{}"));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_TRUE(writer.append(Line::mark, "{}"));  // said already
  EXPECT_TRUE(writer.finish([](const LineCounts&) { return std::string("{}"); }));
}

TEST_F(Files, TheLastLineCountsAndSealsTheOthers) {
  Writer writer;
  const std::string path = folder_ + "/rank-0.jsonl";
  ASSERT_EQ(writer.open(path), path);
  writer.append(Line::header, "{}");
  writer.append(Line::copy, "{}");
  writer.append(Line::copy, "{}");
  const auto footer = [](const LineCounts& lines) {
    return "{\"copies\":" + std::to_string(lines[static_cast<std::size_t>(Line::copy)]) + "}";
  };
  writer.finish(footer);
  writer.append(Line::mark, "late");
  writer.finish(footer);
  const std::string text = read(path);
  EXPECT_EQ(text.find("{}\n{}\n{}\n{\"copies\":2,\"digest\":\""), 0u) << text;
  EXPECT_EQ(read_seal(text), Seal::whole);
}

// FNV-1a with the offset basis and prime of draft-eastlake-fnv, worked out by another program.
TEST_F(Files, TheSealIsWhatItsPageSays) {
  Digest digest;
  digest.add("a\n");
  EXPECT_EQ(sealed(digest, R"({"x":1})"), R"({"x":1,"digest":"d023d337f7fc9884"})");
  EXPECT_EQ(Digest().text(), "cbf29ce484222325");
}

// A disk that is full for a while: what was lost must not be followed by a footer.
TEST_F(Files, AFileThatCouldNotBeWrittenEndsThere) {
  Writer writer;
  const std::string path = folder_ + "/rank-0.jsonl";
  ASSERT_EQ(writer.open(path), path);
  writer.append(Line::header, "{}");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 5;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  writer.append(Line::mark, "{\"lost\":1}");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  writer.append(Line::mark, "{}");
  writer.finish([](const LineCounts&) { return std::string("{\"type\":\"footer\"}"); });
  EXPECT_EQ(read(path), "{}\n{\"");
}

TEST_F(Files, AFolderThatIsNotThereIsAnError) {
  Writer writer;
  EXPECT_EQ(writer.open(folder_ + "/none/rank-0.jsonl"), "");
  writer.append(Line::mark, "dropped");
}

class Variables : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name : {"SYMMCTS_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID",
                             "RANK", "SYMMCTS_SIZE", "OMPI_COMM_WORLD_SIZE", "WORLD_SIZE",
                             "SYMMCTS_EVIDENCE", "SYMMCTS_HOST", "SYMMCTS_RUN"}) {
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

TEST_F(Variables, TheRunIsNamedByWhoeverStartsIt) {
  EXPECT_EQ(read_environment().run, "");
  setenv("SYMMCTS_RUN", "--impl x", 1);
  EXPECT_EQ(read_environment().run, "--impl x");
}

TEST_F(Variables, WithoutAnyThereIsOneUnrecordedRank) {
  const Environment environment = read_environment();
  EXPECT_EQ(environment.rank, 0);
  EXPECT_EQ(environment.world, 1);
  EXPECT_EQ(environment.evidence, "");
}

}  // namespace
}  // namespace symmcts::recorder

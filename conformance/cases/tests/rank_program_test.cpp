// symmcts-rank as a program: what it refuses, and whole jobs of two ranks on the software platform
// with the recorder, up to what stands in the evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "harness/recorder/tests/process.hpp"

// The build passes RANK_PROGRAM, BROKER, RECORDER, PLATFORM_FOLDER, PROFILES, REAL_FOLDER.
namespace symmcts::cases {
namespace {

using recorder::Ended;
using recorder::Started;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
using Lines = std::vector<Json>;

class RankProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-rank-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    scratch_ = name;
  }
  // The machine's broker ends with its last rank, a moment after it, and removes its own socket:
  // one of the two removals can find the other's half done.
  void TearDown() override {
    std::error_code error;
    for (int i = 0; i < 500 && std::filesystem::exists(scratch_); ++i) {
      std::filesystem::remove_all(scratch_, error);
      if (std::filesystem::exists(scratch_)) usleep(20000);
    }
    EXPECT_FALSE(std::filesystem::exists(scratch_)) << error.message();
  }

  std::vector<std::string> environment(int rank, int size) const {
    const std::string number = std::to_string(rank);
    std::vector<std::string> list = {
        "LD_LIBRARY_PATH=" PLATFORM_FOLDER,
        "CUDA_INJECTION64_PATH=" RECORDER,
        "SYMMCTS_PLATFORM=gb200-nvl2",
        "SYMMCTS_PROFILES=" PROFILES,
        "SYMMCTS_BROKER=" BROKER,
        "SYMMCTS_MACHINE=" + scratch_ + "/machine",
        "SYMMCTS_SEED=5",
        "SYMMCTS_EXPECT=software",
        "SYMMCTS_RUN_DIR=" + scratch_,
        "SYMMCTS_EVIDENCE=" + scratch_ + "/rank-%r.jsonl",
        "SYMMCTS_RANK=" + number,
        "SYMMCTS_SIZE=" + std::to_string(size),
    };
    for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) list.push_back(std::string(name) + "=" + value);
    }
    return list;
  }

  // A job of its own machine: the broker, then all ranks at once. A rank that hangs is ended.
  std::vector<Ended> run_job(int size, const std::vector<std::string>& arguments) {
    const Started broker = recorder::start_program(
        {BROKER, "--socket", scratch_ + "/machine", "--profile", "gb200-nvl2", "--seed", "5",
         "--report", scratch_ + "/report.jsonl", "--expect-clients", std::to_string(size),
         "--stay"},
        environment(-1, size), scratch_, "broker");
    for (int tries = 0; tries < 3000 && !std::filesystem::exists(scratch_ + "/machine"); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::vector<Started> ranks;
    for (int rank = 0; rank < size; ++rank) {
      std::vector<std::string> command = {"/usr/bin/timeout", "--signal=KILL", "100", RANK_PROGRAM};
      command.insert(command.end(), arguments.begin(), arguments.end());
      ranks.push_back(recorder::start_program(command, environment(rank, size), scratch_,
                                              "rank-" + std::to_string(rank)));
    }
    std::vector<Ended> ended;
    for (const Started& rank : ranks) ended.push_back(recorder::wait_for(rank));
    kill(broker.process, SIGTERM);
    recorder::wait_for(broker);
    return ended;
  }

  Lines evidence(int rank) const {
    Lines lines;
    std::ifstream file(scratch_ + "/rank-" + std::to_string(rank) + ".jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  std::string scratch_;
};

Lines marks(const Lines& lines, const std::string& what) {
  Lines found;
  for (const Json& line : lines) {
    if (line["type"] == "mark" && line["what"] == what) found.push_back(line);
  }
  return found;
}

// Device copies above 16 bytes by kind, of the calls between the measure marks.
std::map<std::string, int> measured_copies(const Lines& lines) {
  std::map<std::int64_t, bool> measured;
  bool inside = false;
  for (const Json& line : lines) {
    if (line["type"] == "mark" && line["what"] == "measure-begin") inside = true;
    if (line["type"] == "mark" && line["what"] == "measure-end") inside = false;
    if (line["type"] == "call") measured[line["corr"].get<std::int64_t>()] = inside;
  }
  std::map<std::string, int> copies;
  for (const Json& line : lines) {
    if (line["type"] != "copy" || line["bytes"] <= 16) continue;
    const std::string kind = line["kind"];
    if (measured[line["corr"].get<std::int64_t>()] && (kind == "DtoD" || kind == "PtoP")) {
      ++copies[kind];
    }
  }
  return copies;
}

TEST_F(RankProgram, VariablesThatHoldNoNumberAreNamed) {
  for (const std::string wrong : {"SYMMCTS_RANK=abc", "SYMMCTS_SIZE=-2", "SYMMCTS_SEED=1e3"}) {
    std::vector<std::string> variables = environment(0, 1);
    const std::string name = wrong.substr(0, wrong.find('=') + 1);
    for (std::string& variable : variables) {
      if (variable.starts_with(name)) variable = wrong;
    }
    const Ended ended = recorder::run_program(
        {RANK_PROGRAM, "--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"},
        variables, scratch_);
    EXPECT_EQ(ended.code, 3);
    EXPECT_THAT(ended.error,
                ::testing::StartsWith("symmcts-rank: " + wrong + ": must be a whole number from "));
    EXPECT_EQ(std::count(ended.error.begin(), ended.error.end(), '\n'), 1) << ended.error;
  }
}

TEST_F(RankProgram, EvidenceThatIsLostIsNoSuccess) {
  std::vector<std::string> variables = environment(0, 1);
  for (const std::string value : {"/dev/full", "/proc/none/rank.jsonl", ""}) {
    for (std::string& variable : variables) {
      if (variable.starts_with("SYMMCTS_EVIDENCE=")) variable = "SYMMCTS_EVIDENCE=" + value;
    }
    const Ended ended = recorder::run_program(
        {RANK_PROGRAM, "--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"},
        variables, scratch_);
    EXPECT_EQ(ended.code, 3) << value;
    EXPECT_THAT(ended.error, HasSubstr("the recorder does not have all of the evidence\n"));
    const bool told = ended.error.find("symm-cts recorder: ") != std::string::npos;
    EXPECT_EQ(told, !value.empty()) << ended.error;
  }
}

TEST_F(RankProgram, RefusesARealDriverBeforeInit) {
  std::vector<std::string> variables = environment(0, 1);
  variables[0] = "LD_LIBRARY_PATH=" REAL_FOLDER;
  const Ended ended = recorder::run_program(
      {RANK_PROGRAM, "--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"},
      variables, scratch_);
  EXPECT_EQ(ended.code, 3);  // 98: the fake's cuInit ran
  EXPECT_EQ(ended.error,
            "symmcts-rank: refused: this process was told to use the software platform, but the "
            "CUDA driver is a real one (" REAL_FOLDER "/libcuda.so.1)\n");
}

TEST_F(RankProgram, RefusesThePlatformWhereARealDriverIsMeant) {
  std::vector<std::string> variables = environment(0, 1);
  variables.push_back("SYMMCTS_EXPECT=real");
  std::erase(variables, "SYMMCTS_EXPECT=software");
  const Ended ended = recorder::run_program(
      {RANK_PROGRAM, "--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"},
      variables, scratch_);
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.error, HasSubstr("the CUDA driver is the software platform"));
}

TEST_F(RankProgram, NamesWhatItDoesNotKnow) {
  const auto run = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RANK_PROGRAM);
    return recorder::run_program(arguments, environment(0, 1), scratch_);
  };
  Ended ended = run({"--impl", "reference", "--unit", "Data.*"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.error, "symmcts-rank: no case Data.*\n");
  ended = run({"--impl", "none", "--unit", "Data.MulticastWriteReachesEveryReplica"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.error, "symmcts-rank: no implementation none\n");
}

TEST_F(RankProgram, WithoutARecorderThereIsNoVerdict) {
  std::vector<std::string> variables = environment(0, 1);
  std::erase(variables, "CUDA_INJECTION64_PATH=" RECORDER);
  const Ended ended = recorder::run_program(
      {RANK_PROGRAM, "--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"},
      variables, scratch_);
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.error, HasSubstr("no recorder is loaded"));
}

TEST_F(RankProgram, ALoneRankSkipsAndSaysSo) {
  const auto ended =
      run_job(1, {"--impl", "reference", "--unit", "CopyKind.MulticastWritesAreAlike"});
  EXPECT_EQ(ended[0].code, 0) << ended[0].error;
  const Lines skips = marks(evidence(0), "skip");
  ASSERT_EQ(skips.size(), 1u);
  EXPECT_EQ(skips[0]["reason"], "rank 0: needs 2 ranks, the job has 1");
  EXPECT_EQ(marks(evidence(0), "case-end").size(), 1u);
}

TEST_F(RankProgram, EveryReplicaGetsEveryByte) {
  const auto ended =
      run_job(2, {"--impl", "reference", "--unit", "Data.MulticastWriteReachesEveryReplica"});
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(ended[static_cast<std::size_t>(rank)].code, 0);
    EXPECT_THAT(ended[static_cast<std::size_t>(rank)].error, IsEmpty());
    const Lines lines = evidence(rank);
    const Lines checks = marks(lines, "check");
    ASSERT_EQ(checks.size(), 18u);  // nine spans, two writers
    for (const Json& check : checks) EXPECT_TRUE(check["ok"].get<bool>()) << check["text"];
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front()["type"], "header");
    EXPECT_EQ(lines.front()["driver"], "software");
    EXPECT_EQ(lines.front()["platform"], "gb200-nvl2");
    EXPECT_EQ(lines.front()["seed"], 5);
    EXPECT_EQ(lines.front()["devices"].size(), 2u);
    EXPECT_EQ(lines.back()["type"], "footer");
    EXPECT_TRUE(lines.back()["deterministic"].get<bool>());
  }
}

// pytorch#192530: rank 0 DtoD, all others PtoP; after the fix PtoP everywhere.
TEST_F(RankProgram, ANativeRootCopiesLikeNobodyElse) {
  const auto ended = run_job(
      2, {"--impl", "defect:root-keeps-native", "--unit", "Overlap.UploadsBesideAllGather"});
  EXPECT_EQ(ended[0].code, 0) << ended[0].error;
  EXPECT_EQ(ended[1].code, 0) << ended[1].error;
  EXPECT_EQ(measured_copies(evidence(0)), (std::map<std::string, int>{{"DtoD", 5}}));
  EXPECT_EQ(measured_copies(evidence(1)), (std::map<std::string, int>{{"PtoP", 5}}));
}

TEST_F(RankProgram, TheReferenceCopiesAlikeOnEveryRank) {
  const auto ended =
      run_job(2, {"--impl", "reference", "--unit", "Overlap.UploadsBesideAllGather", "--ops", "3"});
  EXPECT_EQ(ended[0].code, 0) << ended[0].error;
  EXPECT_EQ(ended[1].code, 0) << ended[1].error;
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(measured_copies(evidence(rank)), (std::map<std::string, int>{{"PtoP", 3}}));
    EXPECT_EQ(marks(evidence(rank), "check").size(), 1u);
    EXPECT_THAT(marks(evidence(rank), "phase"), Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace symmcts::cases

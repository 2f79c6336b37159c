// The library itself in a process of its own, with a fake driver and a fake CUPTI: what the guard
// stops, what it lets pass, and what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/recorder/tests/process.hpp"
#include "harness/support/seal.hpp"

// The build passes RECORDER, TRACED_PROGRAM, REAL_FOLDER, SOFTWARE_FOLDER; see CMakeLists.txt.
namespace symmcts::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int kLost = 3;      // exit code of a program whose evidence was lost
constexpr int kBodyRan = 99;  // exit code of the real fake's cuMulticastCreate

class Injection : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "symmcts-inject-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    scratch_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(scratch_); }

  // Runs the program on the fake driver of `folder` with the recorder injected.
  Ended run(const std::string& folder, std::vector<std::string> actions,
            std::vector<std::string> environment = {}) {
    std::vector<std::string> command = {TRACED_PROGRAM, folder + "/libcuda.so.1"};
    command.insert(command.end(), actions.begin(), actions.end());
    environment.push_back("CUDA_INJECTION64_PATH=" RECORDER);
    environment.push_back("LD_LIBRARY_PATH=" + folder);
    environment.push_back("SYMMCTS_RANK=1");
    environment.push_back("SYMMCTS_SIZE=2");
    if (!without_evidence_) {
      environment.push_back("SYMMCTS_EVIDENCE=" + scratch_ + "/rank-%r.jsonl");
    }
    return run_program(command, environment, scratch_);
  }

  std::vector<std::string> evidence() const {
    std::vector<std::string> lines;
    std::ifstream file(scratch_ + "/rank-1.jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string scratch_;
  bool without_evidence_ = false;  // the variable is not set at all
};

TEST_F(Injection, RealDriverWithoutPermitEndsBeforeTheCall) {
  const Ended ended = run(REAL_FOLDER, {"memory", "multicast"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(
      ended.error,
      "symm-cts recorder: refused on rank 1: cuMulticastCreate on " REAL_FOLDER
      "/libcuda.so.1: no multicast permit: real driver, and --allow-multicast was not given\n");
  // So that nobody takes it for an end that the program chose.
  ASSERT_FALSE(evidence().empty());
  EXPECT_THAT(evidence().back(), HasSubstr(R"("what":"give-up","cause":"refusal","text":"cuMul)"));
}

TEST_F(Injection, EachVariableRefusesDespiteTheFlag) {
  for (const char* variable : {"TORCH_SYMM_MEM_DISABLE_MULTICAST=1", "NCCL_NVLS_ENABLE=0",
                               "NVSHMEM_DISABLE_NVLS=1", "SYMM_MEM_DISABLE_MULTICAST=1"}) {
    const Ended ended = run(REAL_FOLDER, {"multicast"}, {"SYMMCTS_PERMIT=1", variable});
    EXPECT_EQ(ended.code, 3) << variable;
    EXPECT_THAT(ended.error, HasSubstr(variable));
  }
}

TEST_F(Injection, TheGuardNeedsNoEvidenceFile) {
  const Ended ended = run(REAL_FOLDER, {"multicast"}, {"SYMMCTS_EVIDENCE="});
  EXPECT_EQ(ended.code, 3);
}

// A misspelt variable must not look like a recording.
TEST_F(Injection, ThatNothingIsRecordedIsToldUnlessItIsMeant) {
  const std::string why = "SYMMCTS_EVIDENCE is not set: nothing of this process is recorded";
  EXPECT_THAT(run(REAL_FOLDER, {"memory"}, {"SYMMCTS_EVIDENCE="}).error,
              ::testing::Not(HasSubstr(why)));
  without_evidence_ = true;
  EXPECT_THAT(run(REAL_FOLDER, {"memory"}).error, HasSubstr(why));
}

TEST_F(Injection, RealDriverWithPermitRunsTheCall) {
  EXPECT_EQ(run(REAL_FOLDER, {"multicast"}, {"SYMMCTS_PERMIT=1"}).code, kBodyRan);
}

TEST_F(Injection, TheEnvironmentCannotMakeADriverSoftware) {
  const Ended ended =
      run(REAL_FOLDER, {"multicast"}, {"SYMMCTS_PLATFORM=gb200-nvl2", "SYMMCTS_EXPECT=software"});
  EXPECT_EQ(ended.code, 3);
}

TEST_F(Injection, RealDriverThatCannotBeGuardedIsRefused) {
  const Ended ended = run(REAL_FOLDER, {"memory"}, {"FAKE_CUPTI_HELD=1"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.error, HasSubstr("another tool has subscribed to CUPTI: CUPTI for Other"));
}

TEST_F(Injection, WithAPermitAConflictIsOneLineAndTheProgramRunsOn) {
  const Ended ended = run(REAL_FOLDER, {"memory"}, {"FAKE_CUPTI_HELD=1", "SYMMCTS_PERMIT=1"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.error,
            "symm-cts recorder: this process is not watched: another tool has subscribed to CUPTI: "
            "CUPTI for Other\n");
  EXPECT_THAT(evidence(), ElementsAre());
}

TEST_F(Injection, OnThePlatformAConflictIsOneLineAndTheProgramRunsOn) {
  const Ended ended = run(SOFTWARE_FOLDER, {"multicast"}, {"FAKE_CUPTI_HELD=1"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.error, HasSubstr("this process is not watched"));
}

TEST_F(Injection, AnotherCuptiVersionIsNotRead) {
  const Ended ended = run(SOFTWARE_FOLDER, {"multicast"}, {"FAKE_CUPTI_VERSION=140000"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.error, HasSubstr("CUPTI version 140000 is not 13.x"));
  EXPECT_EQ(run(REAL_FOLDER, {"multicast"}, {"FAKE_CUPTI_VERSION=140000"}).code, 3);
}

TEST_F(Injection, WritesEvidenceFromHeaderToFooter) {
  const Ended ended =
      run(SOFTWARE_FOLDER, {"memory", "mark", "multicast"}, {R"(SYMMCTS_RUN=--impl "x")"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.error, "");
  EXPECT_THAT(
      evidence(),
      ElementsAre(
          StartsWith(
              R"({"type":"header","schema":"symm-cts/evidence/1","rank":1,"world":2,)"
              R"("host":0,"driver":"software","driver_version":"13.0","platform":"fake",)"
              R"("seed":7,"run":"--impl \"x\"","clock":"virtual","devices":[{"ordinal":0,"uuid":null,)"
              R"("name":"Fake GPU"}],"cupti_version":130001,)"),
          StartsWith(R"({"type":"enter","seq":1,"t":1010,"name":"cuMemCreate"})"),
          R"({"type":"call","seq":1,"t0":1010,"t1":1020,"name":"cuMemCreate","result":0,"corr":1,)"
          R"("args":{"handle":1,"bytes":4096,"device":0,"types":1}})",
          R"({"type":"mark","t":1030,"what":"phase","phase":"bind"})",
          R"({"type":"enter","seq":2,"t":1040,"name":"cuMulticastCreate"})",
          R"({"type":"call","seq":2,"t0":1040,"t1":1050,"name":"cuMulticastCreate","result":0,)"
          R"("corr":2,"args":{"handle":2,"bytes":0,"devices":2,"types":0}})",
          StartsWith(R"({"type":"copy","corr":0,"kind":"DtoH","bytes":64,)"),
          StartsWith(R"({"type":"footer","seq":2,"enters":2,"calls":2,"copies":1,"fills":0,)"
                     R"("marks":1,"deterministic":true,"digest":")")));
  std::string text;
  for (const std::string& line : evidence()) text += line + "\n";
  EXPECT_EQ(read_seal(text), Seal::whole);
}

TEST_F(Injection, ACrashLosesNothingButTheFooter) {
  const Ended ended = run(SOFTWARE_FOLDER, {"memory", "crash"});
  EXPECT_EQ(ended.signal, SIGKILL);
  const std::vector<std::string> lines = evidence();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[2], StartsWith(R"({"type":"call","seq":1,)"));
  EXPECT_THAT(lines[2], EndsWith("}}"));
}

TEST_F(Injection, EvidenceThatCannotBeWrittenIsOneLine) {
  std::filesystem::create_directory(scratch_ + "/rank-1.jsonl");
  const Ended ended = run(SOFTWARE_FOLDER, {"memory"});
  EXPECT_EQ(ended.code, kLost);
  EXPECT_EQ(ended.error,
            "symm-cts recorder: cannot write " + scratch_ + "/rank-1.jsonl: Is a directory\n");
}

// full(4): every write fails with ENOSPC, as on a full disk.
TEST_F(Injection, AFullDiskIsOneLineAndNoGreenRun) {
  std::filesystem::create_symlink("/dev/full", scratch_ + "/rank-1.jsonl");
  const Ended ended = run(SOFTWARE_FOLDER, {"memory", "mark", "memory"});
  EXPECT_EQ(ended.code, kLost);
  EXPECT_EQ(ended.error, "symm-cts recorder: the evidence of this process ends early: " + scratch_ +
                             "/rank-1.jsonl: No space left on device\n");
}

// A limit on the file's size stands for a disk that is full later (setrlimit(2): EFBIG).
TEST_F(Injection, ADiskThatFillsUpLaterLeavesNoFooter) {
  const Ended ended = run(SOFTWARE_FOLDER, {"limit", "memory", "mark", "memory"});
  EXPECT_EQ(ended.code, kLost);
  EXPECT_THAT(ended.error, HasSubstr("ends early: "));
  EXPECT_EQ(std::count(ended.error.begin(), ended.error.end(), '\n'), 1) << ended.error;
  const std::vector<std::string> lines = evidence();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines[0], StartsWith(R"({"type":"header")"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("footer")));
}

TEST_F(Injection, AProgramThatFailsKeepsItsOwnCode) {
  std::filesystem::create_symlink("/dev/full", scratch_ + "/rank-1.jsonl");
  EXPECT_EQ(run(SOFTWARE_FOLDER, {"memory", "fail"}).code, 7);
}

TEST_F(Injection, ARankThatIsNoneIsOneLineAndNoEvidence) {
  const Ended ended = run(SOFTWARE_FOLDER, {"memory"}, {"SYMMCTS_RANK=abc"});
  EXPECT_EQ(ended.code, kLost);
  EXPECT_EQ(ended.error,
            "symm-cts recorder: no evidence of this process: SYMMCTS_RANK=abc: must be a whole "
            "number from 0 to 2147483647\n");
  EXPECT_TRUE(std::filesystem::is_empty(scratch_) || evidence().empty());
}

}  // namespace
}  // namespace symmcts::recorder

#include "harness/launch/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/launch/tests/scratch.hpp"
#include "harness/permit/environment.hpp"

namespace symmcts::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ChildEnvironmentTest : public ::testing::Test {
 protected:
  ChildEnvironmentTest() : directory_(RunDirectory::choose("/tmp")) {
    request_.programs.platform = "/x/platform";
    request_.programs.recorder = "/x/lib/recorder.so";
    request_.platform = "gb200-nvl2";
    request_.seats = {{0, 0, 0, ""}, {1, 1, 0, "3"}};
  }
  ChildEnvironment make(const std::string& real_driver = "") const {
    return child_environment(host_, request_, directory_, real_driver);
  }
  RunDirectory directory_;
  UnitRequest request_;
  Variables host_{{"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/user"}};
};

// Design section 3: on the platform the variables go, but not where a real driver is near.
TEST_F(ChildEnvironmentTest, PlatformRemovesDisablingVariablesAndSaysSo) {
  host_["NCCL_NVLS_ENABLE"] = "0";
  host_["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1";
  const ChildEnvironment env = make();
  EXPECT_THAT(env.removed, ElementsAre("TORCH_SYMM_MEM_DISABLE_MULTICAST=1", "NCCL_NVLS_ENABLE=0"));
  for (const DisableVariable& variable : kDisableVariables) {
    EXPECT_EQ(env.common.count(std::string(variable.name)), 0u);
  }
  EXPECT_EQ(env.common.at("SYMMCTS_EXPECT"), "software");
}

TEST_F(ChildEnvironmentTest, PlatformOnAHostWithARealDriverKeepsThem) {
  host_["NCCL_NVLS_ENABLE"] = "0";
  const ChildEnvironment env = make("/dev/nvidiactl");
  EXPECT_THAT(env.removed, IsEmpty());
  EXPECT_EQ(env.common.at("NCCL_NVLS_ENABLE"), "0");
}

TEST_F(ChildEnvironmentTest, SystemSetsAllFourWithoutAPermit) {
  request_.software = false;
  for (const bool real : {false, true}) {
    const ChildEnvironment env = make(real ? "/dev/nvidiactl" : "");
    for (const DisableVariable& variable : kDisableVariables) {
      EXPECT_EQ(env.common.at(std::string(variable.name)), variable.value);
    }
    EXPECT_EQ(env.common.count("SYMMCTS_PERMIT"), 0u);
    EXPECT_EQ(env.common.at("SYMMCTS_EXPECT"), "real");
  }
}

TEST_F(ChildEnvironmentTest, SystemHonoursTheUsersOwnNoOverTheOption) {
  request_.software = false;
  request_.allow_multicast = true;
  host_["SYMM_MEM_DISABLE_MULTICAST"] = "1";
  const ChildEnvironment refused = make();
  EXPECT_EQ(refused.common.count("SYMMCTS_PERMIT"), 0u);
  EXPECT_EQ(refused.common.at("NCCL_NVLS_ENABLE"), "0");
  host_.erase("SYMM_MEM_DISABLE_MULTICAST");
  const ChildEnvironment granted = make();
  EXPECT_EQ(granted.common.at("SYMMCTS_PERMIT"), "1");
  EXPECT_EQ(granted.common.count("NCCL_NVLS_ENABLE"), 0u);
}

TEST_F(ChildEnvironmentTest, AnInheritedPermitCountsForNothing) {
  host_["SYMMCTS_PERMIT"] = "1";
  EXPECT_EQ(make().common.count("SYMMCTS_PERMIT"), 0u);
  request_.software = false;
  EXPECT_EQ(make().common.count("SYMMCTS_PERMIT"), 0u);
}

TEST_F(ChildEnvironmentTest, PlatformComesFirstOnTheLibraryPathAndOnlyThere) {
  EXPECT_EQ(make().common.at("LD_LIBRARY_PATH"), "/x/platform:/user");
  EXPECT_EQ(make().common.at("CUDA_INJECTION64_PATH"), "/x/lib/recorder.so");
  request_.software = false;
  const Variables system = make().common;
  EXPECT_EQ(system.at("LD_LIBRARY_PATH"), "/user");
  EXPECT_EQ(system.count("SYMMCTS_PLATFORM"), 0u);
  EXPECT_EQ(system.count("SYMMCTS_MACHINE"), 0u);
}

TEST_F(ChildEnvironmentTest, EveryFolderOfOpenMpiIsInTheRunDirectory) {
  request_.launcher = Launcher::mpirun;
  host_["OMPI_COMM_WORLD_RANK"] = "5";  // we may ourselves have been started by mpirun
  host_["PMIX_RANK"] = "5";
  const Variables common = make().common;
  EXPECT_EQ(common.count("OMPI_COMM_WORLD_RANK"), 0u);
  EXPECT_EQ(common.count("PMIX_RANK"), 0u);
  for (const char* name : {"TMPDIR", "OMPI_MCA_orte_tmpdir_base", "PMIX_SERVER_TMPDIR",
                           "OMPI_MCA_btl_vader_backing_directory"}) {
    EXPECT_THAT(common.at(name), StartsWith(directory_.path().string() + "/"));
  }
}

TEST_F(ChildEnvironmentTest, RanksGetTheirSeat) {
  const Variables first = rank_variables(request_, directory_, request_.seats[0], true);
  const Variables second = rank_variables(request_, directory_, request_.seats[1], false);
  EXPECT_EQ(first.at("SYMMCTS_RANK"), "0");
  EXPECT_EQ(first.count("CUDA_VISIBLE_DEVICES"), 0u);
  EXPECT_EQ(second.count("SYMMCTS_RANK"), 0u);
  EXPECT_EQ(second.at("SYMMCTS_HOST"), "1");
  EXPECT_EQ(second.at("CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_NE(first.at("SYMMCTS_EVIDENCE"), second.at("SYMMCTS_EVIDENCE"));
}

TEST(RunDirectoryTest, LiesUnderItsBase) {
  EXPECT_THAT(RunDirectory::choose("/scratch").path().string(), StartsWith("/scratch/symmcts-"));
}

std::string scratch_error(const std::string& tmpdir) {
  const auto found = find_scratch({{"TMPDIR", tmpdir}});
  EXPECT_FALSE(found) << found.value();
  return found ? std::string() : found.error();
}

TEST(FindScratch, IsTmpUnlessTold) {
  for (const Variables& host : {Variables{}, Variables{{"TMPDIR", ""}}}) {
    const auto found = find_scratch(host);
    ASSERT_TRUE(found) << found.error();
    EXPECT_EQ(found.value(), "/tmp");
  }
}

TEST(FindScratch, ARelativeFolderBecomesAbsolute) {
  const testing::Scratch scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path());
  const auto found = find_scratch({{"TMPDIR", "./t"}});
  std::filesystem::current_path(before);
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found.value(), scratch.tmp());
}

TEST(FindScratch, WhatCannotHoldARunIsNamed) {
  const testing::Scratch scratch;
  const std::string none = scratch.path() / "none", file = scratch.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_EQ(scratch_error(none), "TMPDIR=" + none + ": No such file or directory");
  EXPECT_EQ(scratch_error(file), "TMPDIR=" + file + ": is no folder");
  EXPECT_EQ(scratch_error("/dev/null"), "TMPDIR=/dev/null: is no folder");
}

// In a process of its own: root may write everywhere.
TEST(FindScratch, AFolderThatCannotBeWrittenIsNamed) {
  const testing::Scratch scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0555), 0);
  EXPECT_EXIT(
      {
        if (getuid() == 0 && setuid(65534) != 0) _exit(1);
        std::fprintf(stderr, "%s\n", scratch_error(scratch.path()).c_str());
        _exit(0);
      },
      ::testing::ExitedWithCode(0),
      "TMPDIR=" + scratch.path().string() + ": cannot be written: Permission denied");
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
}

// sockaddr_un holds 108 bytes (unix(7)); sockets of broker and ranks lie in the run directory.
TEST(FindScratch, AFolderTooDeepForSocketsIsRefusedNotReplaced) {
  const testing::Scratch scratch;
  const std::string deep = scratch.path() / std::string(90, 'x');
  std::filesystem::create_directory(deep);
  EXPECT_THAT(scratch_error(deep), HasSubstr("TMPDIR=" + deep + ": is "));
  EXPECT_THAT(scratch_error(deep), HasSubstr("bytes long; the sockets of a run leave it "));
}

}  // namespace
}  // namespace symmcts::launch

// What cuInit takes from the environment, seen from outside: one process a case.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "harness/platform/abi/visible_devices.hpp"

namespace symmcts::platform::abi::test {
namespace {

struct Ended {
  int code = -1;
  std::string said;  // stdout and stderr
};

// `variables` as a shell writes them: "A=1 B=2".
Ended start(const std::string& variables) {
  const std::string command = "env -u CUDA_VISIBLE_DEVICES -u SYMMCTS_MACHINE " + variables + " " +
                              SYMMCTS_START_CLIENT + " " + SYMMCTS_PLATFORM_LIBCUDA + " 2>&1";
  Ended out;
  std::FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) out.said += line.data();
  const int status = pclose(pipe);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return out;
}

int lines(const std::string& text, const std::string& with) {
  int found = 0;
  for (std::size_t at = 0; (at = text.find(with, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(Start, DefaultsToGb200WithTwoGpus) {
  const Ended ended = start("");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.said.find("init 0 devices 2\n"), std::string::npos) << ended.said;
  EXPECT_NE(ended.said.find("\"profile\":\"gb200-nvl2\",\"seed\":0,\"host\":0"), std::string::npos)
      << ended.said;
}

TEST(Start, TakesProfileAndSeed) {
  const Ended ended = start("SYMMCTS_PLATFORM=hgx-h200 SYMMCTS_SEED=17");
  EXPECT_NE(ended.said.find("\"profile\":\"hgx-h200\",\"seed\":17"), std::string::npos)
      << ended.said;
}

TEST(Start, VisibleDevices) {
  EXPECT_NE(start("CUDA_VISIBLE_DEVICES=1,0").said.find("device 0 0000:11:00.0\ndevice 1 0000:10"),
            std::string::npos);
  const std::string uuid = uuid_text(device_uuid(1));
  EXPECT_NE(start("CUDA_VISIBLE_DEVICES=" + uuid).said.find("devices 1\ndevice 0 0000:11:00.0"),
            std::string::npos);
  EXPECT_NE(start("CUDA_VISIBLE_DEVICES=0,9,1").said.find("devices 1\ndevice 0 0000:10"),
            std::string::npos);
  EXPECT_NE(start("CUDA_VISIBLE_DEVICES=").said.find("init 100 devices -1"), std::string::npos)
      << "CUDA_ERROR_NO_DEVICE";
}

// One line that names the variable or what was looked for; never a crash or a hang.
TEST(Start, BadSettingsAreNamed) {
  Ended ended = start("SYMMCTS_SEED=many");
  EXPECT_NE(ended.said.find("cuInit: SYMMCTS_SEED=many: must be a whole number from 0 to "
                            "18446744073709551615\n"),
            std::string::npos)
      << ended.said;
  EXPECT_EQ(lines(ended.said, "symm-cts platform"), 1);
  for (const std::string wrong :
       {"SYMMCTS_SEED=-1", "SYMMCTS_SEED=18446744073709551616", "SYMMCTS_HOST=-1",
        "SYMMCTS_HOST=1x", "SYMMCTS_HOST=64", "SYMMCTS_RANK=-1", "SYMMCTS_RANK=0.5",
        "SYMMCTS_RANK=99999999999", "OMPI_COMM_WORLD_RANK=abc"}) {
    ended = start(wrong);
    EXPECT_NE(ended.said.find("cuInit: " + wrong + ": must be a whole number from 0 to "),
              std::string::npos)
        << ended.said;
    EXPECT_EQ(ended.said.find("init 0"), std::string::npos);
    EXPECT_EQ(lines(ended.said, "symm-cts platform"), 1);
  }
  // A host that a machine can have, but not this one.
  EXPECT_NE(start("SYMMCTS_HOST=1").said.find("on host 1, which does not fit"), std::string::npos);
  ended = start("SYMMCTS_PLATFORM=no-such-machine");
  EXPECT_NE(ended.said.find("no-such-machine"), std::string::npos) << ended.said;
  EXPECT_EQ(ended.said.find("init 0"), std::string::npos);
  ended = start("SYMMCTS_BROKER=/no/such/broker");
  EXPECT_NE(ended.said.find("/no/such/broker"), std::string::npos) << ended.said;
  EXPECT_EQ(ended.said.find("init 0"), std::string::npos);
}

TEST(Start, WhatItQuotesCannotSteerTheTerminal) {
  const Ended ended = start("SYMMCTS_PLATFORM=\"$(printf 'a\\033[2J\\rb')\"");
  EXPECT_NE(ended.said.find("a\\x1b[2J\\rb"), std::string::npos) << ended.said;
  EXPECT_EQ(ended.said.find_first_of("\033\r"), std::string::npos);
}

TEST(Start, LoadsTheInjectionLibrary) {
  const std::string probe = std::string("CUDA_INJECTION64_PATH=") + SYMMCTS_INJECTION_PROBE;
  Ended ended = start(probe);
  EXPECT_NE(ended.said.find("injected: subscribe 0 devices 2\ninit 0 devices 2\n"),
            std::string::npos)
      << ended.said;
  EXPECT_EQ(lines(ended.said, "injected"), 1) << "cuInit from inside does not load it again";
  ended = start(probe + " PROBE_ANSWER=0");
  EXPECT_NE(ended.said.find("InitializeInjection reported failure\n"), std::string::npos);
  EXPECT_NE(ended.said.find("init 0"), std::string::npos) << "the driver goes on";
  ended = start("CUDA_INJECTION64_PATH=/no/such/library.so");
  EXPECT_NE(ended.said.find("symm-cts platform: CUDA_INJECTION64_PATH: /no/such/library.so"),
            std::string::npos)
      << ended.said;
  EXPECT_NE(ended.said.find("init 0"), std::string::npos);
  for (const std::string unset : {"none", ""}) {
    EXPECT_EQ(start("CUDA_INJECTION64_PATH=" + unset).said.find("INJECTION"), std::string::npos);
  }
}

}  // namespace
}  // namespace symmcts::platform::abi::test

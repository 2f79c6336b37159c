// libnvidia-ml.so.1 as a client sees it: opened by absolute path. Result codes and layouts are
// those of fixtures/oracles/h200-x2/nvml.txt, which nvml_table_test.py compares whole; here is what
// another machine than that one shows.
#include <cuda.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "harness/platform/nvml/nvml_abi.hpp"

namespace symmcts::platform::nvml {
namespace {

using ::testing::HasSubstr;

template <typename... Arguments>
Return call(const char* name, Arguments... arguments) {
  static void* const library = dlopen(SYMMCTS_PLATFORM_LIBNVML, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  auto* function = reinterpret_cast<Return (*)(Arguments...)>(dlsym(library, name));
  EXPECT_NE(function, nullptr) << name;
  return function == nullptr ? Return::unknown : function(arguments...);
}

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"SYMMCTS_MACHINE", "SYMMCTS_HOST", "SYMMCTS_PLATFORM",
                             "SYMMCTS_SCENARIO", "CUDA_VISIBLE_DEVICES"}) {
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    while (call("nvmlShutdown") == Return::success) {
    }
  }
  static void begin(const char* platform, const char* host = "0") {
    ::setenv("SYMMCTS_PLATFORM", platform, 1);
    ::setenv("SYMMCTS_HOST", host, 1);
    ASSERT_EQ(call("nvmlInit_v2"), Return::success);
  }
  static Device device(unsigned index) {
    Device out = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", index, &out), Return::success);
    return out;
  }
  static FabricInfoV3 fabric(unsigned index) {
    FabricInfoV3 info{};
    info.version = version_of<FabricInfoV3>(3);
    EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfoV", device(index), &info), Return::success);
    return info;
  }
  static std::vector<unsigned char> uuid(const FabricInfoV3& info) {
    return {std::begin(info.cluster_uuid), std::end(info.cluster_uuid)};
  }
};

// The names of NVIDIA's header and of nvidia-ml-py.
TEST_F(NvmlTest, EveryNameIsThere) {
  void* library = dlopen(SYMMCTS_PLATFORM_LIBNVML, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::ifstream names(SYMMCTS_NVML_NAMES);
  int count = 0;
  for (std::string name; names >> name; ++count) {
    EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
  }
  EXPECT_GE(count, 397) << "functions of the header of CUDA 13.0";
}

TEST_F(NvmlTest, WhatIsNotModelledSaysSoOnceAndDoesNotSucceed) {
  begin("gb200-nvl2");
  unsigned watts = 7;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", device(0), &watts), Return::not_supported);
  EXPECT_EQ(call("nvmlDeviceGetPowerUsage", device(0), &watts), Return::not_supported);
  EXPECT_EQ(call("nvmlDeviceSetCpuAffinity", device(0)), Return::not_supported);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(said,
            "symm-cts platform: nvmlDeviceGetPowerUsage is not modelled: NOT_SUPPORTED\n"
            "symm-cts platform: nvmlDeviceSetCpuAffinity is not modelled: NOT_SUPPORTED\n");
  EXPECT_EQ(watts, 7u);
}

// PyTorch asks these before it tries FABRIC handles.
TEST_F(NvmlTest, AGb200IsRegisteredInAFabric) {
  begin("gb200-nvl2");
  const FabricInfoV3 first = fabric(0), second = fabric(1);
  EXPECT_EQ(first.state, 3) << "completed";
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(uuid(first), uuid(second));
  EXPECT_NE(uuid(first), std::vector<unsigned char>(16)) << "NCCL takes zero for no fabric";
  EXPECT_EQ(first.clique_id, second.clique_id);
}

// NCCL compares UUIDs and cliques to find who shares an NVLink domain.
TEST_F(NvmlTest, FourDomainsHaveFourIdentities) {
  std::vector<std::vector<unsigned char>> seen;
  for (const char* host : {"0", "15", "16", "63"}) {
    begin("gb200-4x64", host);
    seen.push_back(uuid(fabric(3)));
    ASSERT_EQ(call("nvmlShutdown"), Return::success);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_NE(seen[2], seen[3]);
}

// What a scenario makes of a machine that nobody has started yet.
class NvmlScenarioTest : public NvmlTest {
 protected:
  NvmlScenarioTest() : file_(::testing::TempDir() + "nvml-scenario.toml") {}
  ~NvmlScenarioTest() override { std::remove(file_.c_str()); }
  void scenario(const char* text) {
    std::ofstream(file_) << text;
    ::setenv("SYMMCTS_SCENARIO", file_.c_str(), 1);
  }
  static ConfidentialState confidential() {
    ConfidentialState state{9, 9, 9};
    EXPECT_EQ(call("nvmlSystemGetConfComputeState", &state), Return::success);
    return state;
  }
  std::string file_;
};

TEST_F(NvmlScenarioTest, WithoutAFabricManagerTheRegistrationDoesNotEnd) {
  scenario("[faults]\nfabric_manager = \"absent\"\n");
  begin("gb200-nvl2");
  EXPECT_EQ(fabric(0).state, 2) << "in progress";
  EXPECT_EQ(uuid(fabric(0)), std::vector<unsigned char>(16));
  EXPECT_EQ(confidential().feature, 0u);
}

TEST_F(NvmlScenarioTest, ConfidentialComputingIsShown) {
  scenario("[faults]\nconfidential_computing = true\n");
  begin("gb200-nvl2");
  EXPECT_EQ(confidential().environment, 2u) << "production";
  EXPECT_EQ(confidential().feature, 1u) << "enabled";
  EXPECT_EQ(fabric(0).state, 3) << "completed";
}

TEST_F(NvmlScenarioTest, ABadScenarioIsToldAndRefused) {
  scenario("[faults]\nslots = 1\n");
  ::setenv("SYMMCTS_PLATFORM", "gb200-nvl2", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_NE(call("nvmlInit_v2"), Return::success);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(":2:9: unknown key 'slots'"));
}

TEST_F(NvmlTest, CudaVisibleDevicesIsNotApplied) {
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  begin("gb200-nvl2");
  unsigned count = 0, index = 9;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::success);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(call("nvmlDeviceGetIndex", device(1), &index), Return::success);
  EXPECT_EQ(index, 1u);
}

TEST_F(NvmlTest, IdentitiesAreThoseThatCudaShows) {
  begin("gb200-nvl2");
  void* driver = dlopen(SYMMCTS_PLATFORM_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(driver, nullptr) << dlerror();
  ASSERT_NE(dlsym(driver, "symmcts_platform_abi"), nullptr) << "a real driver";
  const auto cuda = [&]<typename... Arguments>(const char* name, Arguments... arguments) {
    return reinterpret_cast<CUresult (*)(Arguments...)>(dlsym(driver, name))(arguments...);
  };
  MemoryInfoV2 before{}, after{};
  before.version = after.version = version_of<MemoryInfoV2>(2);
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo_v2", device(1), &before), Return::success);
  EXPECT_EQ(before.used, 0u);
  ASSERT_EQ(cuda("cuInit", 0u), CUDA_SUCCESS);
  for (unsigned index = 0; index < 2; ++index) {
    const auto ordinal = static_cast<CUdevice>(index);
    char bus[16] = {};
    ASSERT_EQ(cuda("cuDeviceGetPCIBusId", &bus[0], 16, ordinal), CUDA_SUCCESS);
    Device found = nullptr;
    EXPECT_EQ(call("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>(bus), &found),
              Return::success);
    EXPECT_EQ(found, device(index));
    CUuuid uuid{};
    ASSERT_EQ(cuda("cuDeviceGetUuid", &uuid, ordinal), CUDA_SUCCESS);
    char text[96] = {}, start[16] = {};
    EXPECT_EQ(call("nvmlDeviceGetUUID", device(index), &text[0], 96u), Return::success);
    std::snprintf(start, sizeof start, "GPU-%02x%02x%02x%02x-", uuid.bytes[0] & 0xffU,
                  uuid.bytes[1] & 0xffU, uuid.bytes[2] & 0xffU, uuid.bytes[3] & 0xffU);
    EXPECT_THAT(text, ::testing::StartsWith(start));
  }
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {1}};
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_EQ(cuda("cuMemCreate", &handle, std::size_t{4} << 20,
                 static_cast<const CUmemAllocationProp*>(&prop), 0ULL),
            CUDA_SUCCESS);
  EXPECT_EQ(call("nvmlDeviceGetMemoryInfo_v2", device(1), &after), Return::success);
  EXPECT_EQ(after.used, 4u << 20);
  EXPECT_EQ(after.free, before.free - after.used);
  EXPECT_EQ(cuda("cuMemRelease", handle), CUDA_SUCCESS);
}

TEST_F(NvmlTest, WhatIsNotInTheProfileIsNotInvented) {
  begin("gb200-nvl2");
  PciInfo info{};
  EXPECT_EQ(call("nvmlDeviceGetPciInfo_v3", device(0), &info), Return::success);
  EXPECT_EQ(info.device_id, 0u);
  EXPECT_EQ(info.subsystem_id, 0u);
}

TEST_F(NvmlTest, AMachineThatIsNotThereIsOneLine) {
  ::testing::internal::CaptureStderr();
  ::setenv("SYMMCTS_PLATFORM", "no-such-machine", 1);
  EXPECT_EQ(call("nvmlInit_v2"), Return::driver_not_loaded);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("nvmlInit: no platform profile 'no-such-machine' in "));
  ::testing::internal::CaptureStderr();
  ::setenv("SYMMCTS_PLATFORM", "gb200-nvl2", 1);
  ::setenv("SYMMCTS_HOST", "1", 1);
  EXPECT_EQ(call("nvmlInit_v2"), Return::driver_not_loaded);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("SYMMCTS_HOST=1"));
  unsigned count = 0;
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), Return::uninitialized);
}

TEST_F(NvmlTest, AHandleThatIsNoneIsRefused) {
  begin("gb200-nvl2");
  unsigned index = 0;
  int something = 0;
  EXPECT_EQ(call("nvmlDeviceGetIndex", reinterpret_cast<Device>(&something), &index),
            Return::invalid_argument);
  Device out = nullptr;
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 2u, &out), Return::invalid_argument);
}

}  // namespace
}  // namespace symmcts::platform::nvml

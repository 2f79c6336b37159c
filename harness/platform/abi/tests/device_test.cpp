// Start, devices, contexts.
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "harness/platform/abi/symmcts_platform.h"
#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

// First in the program: nothing has called cuInit yet (suites run in order of definition).
TEST(BeforeInit, CallsAnswerNotInitialized) {
  int count = 0;
  CUdeviceptr address = 0;
  CUcontext context = nullptr;
  EXPECT_EQ(CU(cuDeviceGetCount)(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(CU(cuMemAlloc_v2)(&address, 1), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(CU(cuCtxGetCurrent)(&context), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(CU(cuCtxSynchronize)(), CUDA_ERROR_NOT_INITIALIZED);
  char info[64];
  find<decltype(&symmcts_platform_info)>("symmcts_platform_info")(info, sizeof info);
  EXPECT_STREQ(info, "{\"started\":false}");
  EXPECT_EQ(find<decltype(&symmcts_platform_wait_begin)>("symmcts_platform_wait_begin")(0), -1);
}

TEST(BeforeInit, VersionAndBadFlags) {
  int version = 0;
  EXPECT_CU(CU(cuDriverGetVersion)(&version));
  EXPECT_EQ(version, CUDA_VERSION);
  EXPECT_EQ(CU(cuDriverGetVersion)(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuInit)(1), CUDA_ERROR_INVALID_VALUE);
}

// A context is needed by what works on the current device; the virtual memory calls need none.
TEST(Init, WithoutAContext) {
  ASSERT_CU(CU(cuInit)(0));
  ASSERT_CU(CU(cuInit)(0));
  CUdeviceptr address = 0;
  CUdevice device = 0;
  EXPECT_EQ(CU(cuMemAlloc_v2)(&address, 1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuCtxGetDevice)(&device), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuStreamSynchronize)(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuCtxPopCurrent_v2)(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(CU(cuMemAddressReserve)(&address, kBlock, 0, 0, 0));
  EXPECT_CU(CU(cuMemAddressFree)(address, kBlock));
}

TEST(Init, InfoNamesTheMachine) {
  ASSERT_CU(CU(cuInit)(0));
  const auto info = find<decltype(&symmcts_platform_info)>("symmcts_platform_info");
  std::string text(info(nullptr, 0), '\0');
  EXPECT_EQ(info(text.data(), text.size() + 1), text.size());
  EXPECT_NE(text.find("\"profile\":\"gb200-nvl2\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"rank\":0"), std::string::npos) << text;
}

// The driver does not survive a fork: an error, not a hang.
TEST(Init, AForkedChildGetsNotInitialized) {
  use_device(0);
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    const bool right = CU(cuDeviceGetCount)(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                       CU(cuInit)(0) == CUDA_ERROR_NOT_INITIALIZED &&
                       CU(cuCtxSynchronize)() == CUDA_ERROR_NOT_INITIALIZED;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_CU(CU(cuCtxSynchronize)()) << "the parent is unharmed";
  EXPECT_CU(CU(cuDevicePrimaryCtxRelease)(0));
  EXPECT_CU(CU(cuCtxSetCurrent)(nullptr));
}

class Device : public World {};

TEST_F(Device, Identity) {
  int count = 0;
  EXPECT_CU(CU(cuDeviceGetCount)(&count));
  ASSERT_EQ(count, 2);
  std::set<std::string> seen;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = -1, found = -1;
    EXPECT_CU(CU(cuDeviceGet)(&device, ordinal));
    CUuuid uuid{}, again{};
    EXPECT_CU(CU(cuDeviceGetUuid)(&uuid, device));
    EXPECT_CU(CU(cuDeviceGetUuid_v2)(&again, device));
    EXPECT_EQ(std::memcmp(&uuid, &again, sizeof uuid), 0);
    seen.emplace(uuid.bytes, sizeof uuid.bytes);
    char name[64], bus[16];
    EXPECT_CU(CU(cuDeviceGetName)(name, sizeof name, device));
    EXPECT_NE(std::string(name).find("GB200"), std::string::npos) << name;
    EXPECT_CU(CU(cuDeviceGetPCIBusId)(bus, sizeof bus, device));
    EXPECT_CU(CU(cuDeviceGetByPCIBusId)(&found, bus));
    EXPECT_EQ(found, device);
    EXPECT_CU(CU(cuDeviceGetByPCIBusId)(&found, bus + 5)) << "without the domain";
    EXPECT_EQ(found, device);
    std::size_t bytes = 0;
    EXPECT_CU(CU(cuDeviceTotalMem_v2)(&bytes, device));
    EXPECT_GT(bytes, std::size_t{100} << 30);
  }
  EXPECT_EQ(seen.size(), 2U);
  CUdevice device = -1;
  EXPECT_EQ(CU(cuDeviceGet)(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(CU(cuDeviceGet)(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(CU(cuDeviceGetByPCIBusId)(&device, "0000:ff:00.0"), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(CU(cuDeviceGetByPCIBusId)(&device, "nonsense"), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Device, Attributes) {
  const auto get = [](int attribute) {
    int value = -77;
    EXPECT_CU(CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(attribute), 0))
        << attribute;
    return value;
  };
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR), 1);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES), 0) << "as measured";
  EXPECT_GE(get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT), 2);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY), 0) << "not offered";
  int major = 0, minor = -1;
  EXPECT_CU(CU(cuDeviceComputeCapability)(&major, &minor, 0));
  EXPECT_EQ(get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), major);
  EXPECT_EQ(major, 10) << "Blackwell";
  int value = 0;
  const auto ask = CU(cuDeviceGetAttribute);
  EXPECT_EQ(ask(&value, static_cast<CUdevice_attribute>(0), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ask(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(ask(&value, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0), CUDA_ERROR_NOT_SUPPORTED)
      << "a number of the silicon that no profile holds must not read 0";
}

TEST_F(Device, Peers) {
  int value = -1;
  EXPECT_CU(CU(cuDeviceCanAccessPeer)(&value, 0, 1));
  EXPECT_EQ(value, 1);
  EXPECT_CU(CU(cuDeviceCanAccessPeer)(&value, 0, 0));
  EXPECT_EQ(value, 0);
  const std::pair<CUdevice_P2PAttribute, int> measured[] = {
      {CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0},
      {CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1},
      {CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 1}};
  for (const auto& [attribute, expected] : measured) {
    EXPECT_CU(CU(cuDeviceGetP2PAttribute)(&value, attribute, 0, 1));
    EXPECT_EQ(value, expected) << attribute;
  }
  EXPECT_EQ(CU(cuCtxEnablePeerAccess)(context(0), 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_CU(CU(cuCtxEnablePeerAccess)(context(1), 0));
  EXPECT_EQ(CU(cuCtxEnablePeerAccess)(context(1), 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_CU(CU(cuCtxDisablePeerAccess)(context(1)));
  EXPECT_EQ(CU(cuCtxDisablePeerAccess)(context(1)), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST_F(Device, ContextStack) {
  CUcontext made = nullptr, current = nullptr, popped = nullptr;
  ASSERT_CU(CU(cuCtxCreate_v2)(&made, 0, 1));
  CUdevice device = -1;
  EXPECT_CU(CU(cuCtxGetDevice)(&device));
  EXPECT_EQ(device, 1);
  EXPECT_CU(CU(cuCtxPushCurrent_v2)(context(0)));
  EXPECT_CU(CU(cuCtxGetDevice)(&device));
  EXPECT_EQ(device, 0);
  EXPECT_CU(CU(cuCtxGetDevice_v2)(&device, made));
  EXPECT_EQ(device, 1);
  EXPECT_CU(CU(cuCtxPopCurrent_v2)(&popped));
  EXPECT_EQ(popped, context(0));
  EXPECT_CU(CU(cuCtxGetCurrent)(&current));
  EXPECT_EQ(current, made);
  // Each thread has its own stack.
  std::thread([&] {
    CUcontext other = made;
    EXPECT_CU(CU(cuCtxGetCurrent)(&other));
    EXPECT_EQ(other, nullptr);
  }).join();
  EXPECT_CU(CU(cuCtxDestroy_v2)(made));
  EXPECT_CU(CU(cuCtxGetCurrent)(&current));
  EXPECT_EQ(current, context(0)) << "destroying the current context pops it";
  EXPECT_EQ(CU(cuCtxSetCurrent)(made), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuCtxDestroy_v2)(made), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(CU(cuCtxDestroy_v2)(context(0)), CUDA_ERROR_INVALID_CONTEXT) << "a primary one";
  CUctxCreateParams params{};
  EXPECT_CU(CU(cuCtxCreate_v4)(&made, &params, 0, 0));
  EXPECT_CU(CU(cuCtxDestroy)(made));
  EXPECT_CU(CU(cuCtxCreate_v3)(&made, nullptr, 0, 0, 0));
  EXPECT_CU(CU(cuCtxDestroy)(made));
  EXPECT_EQ(CU(cuCtxCreate_v4)(&made, nullptr, 0, 9), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Device, ContextQueries) {
  unsigned version = 0, flags = 99;
  unsigned long long id = 0;
  int least = -1, greatest = 1;
  EXPECT_CU(CU(cuCtxGetApiVersion)(context(0), &version));
  EXPECT_GE(version, 3020U);
  EXPECT_CU(CU(cuCtxSetFlags)(CU_CTX_SCHED_YIELD));
  EXPECT_CU(CU(cuCtxGetFlags)(&flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_YIELD));
  EXPECT_CU(CU(cuCtxSetFlags)(0));
  EXPECT_CU(CU(cuCtxGetId)(context(0), &id));
  EXPECT_GT(id, 0U);
  EXPECT_CU(CU(cuCtxGetStreamPriorityRange)(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, least);
  EXPECT_CU(CU(cuCtxSynchronize_v2)(context(1)));
}

TEST_F(Device, PrimaryContext) {
  unsigned flags = 1;
  int active = -1;
  EXPECT_CU(CU(cuDevicePrimaryCtxGetState)(1, &flags, &active));
  EXPECT_EQ(active, 1);
  CUcontext again = nullptr;
  EXPECT_CU(CU(cuDevicePrimaryCtxRetain)(&again, 1));
  EXPECT_EQ(again, context(1));
  EXPECT_CU(CU(cuDevicePrimaryCtxRelease_v2)(1));
  EXPECT_CU(CU(cuDevicePrimaryCtxRelease_v2)(1));
  EXPECT_CU(CU(cuDevicePrimaryCtxGetState)(1, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(CU(cuCtxSetCurrent)(context(1)), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(CU(cuDevicePrimaryCtxRelease_v2)(1), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(CU(cuDevicePrimaryCtxSetFlags_v2)(1, CU_CTX_SCHED_SPIN));
  EXPECT_CU(CU(cuDevicePrimaryCtxGetState)(1, &flags, &active));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_SPIN));
  EXPECT_CU(CU(cuDevicePrimaryCtxSetFlags)(1, 0));
  EXPECT_CU(CU(cuDevicePrimaryCtxRetain)(&again, 1));
  EXPECT_CU(CU(cuCtxSetCurrent)(again));
  const CUdeviceptr block = alloc(64);
  EXPECT_CU(CU(cuDevicePrimaryCtxReset_v2)(1));
  EXPECT_EQ(CU(cuMemFree_v2)(block), CUDA_ERROR_INVALID_VALUE) << "the reset has freed it";
}

}  // namespace
}  // namespace symmcts::platform::abi::test

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cstddef>
#include "harness/platform/abi/tests/platform.hpp"

// A started platform (gb200-nvl2: two GPUs) for tests of single functions. One machine a test
// program, joined at the first use, with no supervisor.
namespace symmcts::platform::abi::test {

inline constexpr std::size_t kMiB = 1U << 20;
inline constexpr std::size_t kBlock = 2 * kMiB;  // the granularity that was measured

// cuInit, and the primary context of `device` current on this thread.
inline CUcontext use_device(int device) {
  EXPECT_CU(CU(cuInit)(0));
  CUcontext context = nullptr;
  EXPECT_CU(CU(cuDevicePrimaryCtxRetain)(&context, device));
  EXPECT_CU(CU(cuCtxSetCurrent)(context));
  return context;
}

class World : public ::testing::Test {
 protected:
  void SetUp() override { contexts_ = {use_device(1), use_device(0)}; }
  void TearDown() override {
    EXPECT_CU(CU(cuCtxSetCurrent)(nullptr));
    for (int device : {0, 1}) EXPECT_CU(CU(cuDevicePrimaryCtxRelease_v2)(device));
  }

  CUcontext context(int device) const { return contexts_[device == 0 ? 1 : 0]; }

  static CUdeviceptr alloc(std::size_t bytes) {
    CUdeviceptr out = 0;
    EXPECT_CU(CU(cuMemAlloc_v2)(&out, bytes));
    return out;
  }
  static std::string read(CUdeviceptr from, std::size_t bytes) {
    std::string out(bytes, '?');
    EXPECT_CU(CU(cuMemcpyDtoH_v2)(out.data(), from, bytes));
    return out;
  }
  static void write(CUdeviceptr to, const std::string& text) {
    EXPECT_CU(CU(cuMemcpyHtoD_v2)(to, text.data(), text.size()));
  }
  static CUmemAllocationProp property(int device, unsigned types) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(types);
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return prop;
  }
  static CUmemGenericAllocationHandle create(int device, unsigned types,
                                             std::size_t bytes = kBlock) {
    CUmemGenericAllocationHandle handle = 0;
    const auto prop = property(device, types);
    EXPECT_CU(CU(cuMemCreate)(&handle, bytes, &prop, 0));
    return handle;
  }
  static CUdeviceptr map(CUmemGenericAllocationHandle handle, const std::vector<int>& devices,
                         std::size_t bytes = kBlock) {
    CUdeviceptr at = 0;
    EXPECT_CU(CU(cuMemAddressReserve)(&at, bytes, 0, 0, 0));
    EXPECT_CU(CU(cuMemMap)(at, bytes, 0, handle, 0));
    for (const int device : devices) {
      const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      EXPECT_CU(CU(cuMemSetAccess)(at, bytes, &grant, 1));
    }
    return at;
  }
  static void unmap(CUdeviceptr at, std::size_t bytes = kBlock) {
    EXPECT_CU(CU(cuMemUnmap)(at, bytes));
    EXPECT_CU(CU(cuMemAddressFree)(at, bytes));
  }

 private:
  std::vector<CUcontext> contexts_;
};

}  // namespace symmcts::platform::abi::test

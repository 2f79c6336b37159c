// Device and host memory, copies, fills.
#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

class MemoryCalls : public World {};

TEST_F(MemoryCalls, AllocationsAndRanges) {
  std::size_t free_before = 0, free_after = 0, total = 0, size = 0;
  EXPECT_CU(CU(cuMemGetInfo_v2)(&free_before, &total));
  const CUdeviceptr block = alloc(kMiB);
  EXPECT_CU(CU(cuMemGetInfo_v2)(&free_after, &total));
  EXPECT_LE(free_after + kMiB, free_before);
  CUdeviceptr base = 0;
  EXPECT_CU(CU(cuMemGetAddressRange_v2)(&base, &size, block + 1000));
  EXPECT_EQ(base, block);
  EXPECT_GE(size, kMiB);
  EXPECT_CU(CU(cuMemFree_v2)(block));
  EXPECT_EQ(CU(cuMemFree_v2)(block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemFree_v2)(0)) << "as free(NULL)";
  EXPECT_EQ(CU(cuMemGetAddressRange_v2)(&base, &size, 0x1000), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr pitched = 0;
  std::size_t pitch = 0;
  EXPECT_CU(CU(cuMemAllocPitch_v2)(&pitched, &pitch, 1000, 8, 16));
  EXPECT_GE(pitch, 1000U);
  EXPECT_EQ(CU(cuMemAllocPitch_v2)(&pitched, &pitch, 1000, 8, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemFree_v2)(pitched));
  EXPECT_EQ(CU(cuMemAlloc_v2)(&pitched, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(MemoryCalls, PinnedHostMemory) {
  void* pinned = nullptr;
  EXPECT_CU(CU(cuMemHostAlloc)(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
  std::memset(pinned, 'p', 4096);
  CUdeviceptr seen = 0;
  unsigned flags = 0;
  EXPECT_CU(CU(cuMemHostGetDevicePointer_v2)(&seen, pinned, 0));
  EXPECT_EQ(seen, reinterpret_cast<CUdeviceptr>(pinned));
  EXPECT_CU(CU(cuMemHostGetFlags)(&flags, pinned));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  unsigned type = 0;
  EXPECT_CU(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, seen));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_CU(CU(cuMemsetD8_v2)(seen, 'q', 10)) << "a fill of pinned memory is waited for";
  EXPECT_EQ(static_cast<char*>(pinned)[9], 'q');
  EXPECT_EQ(static_cast<char*>(pinned)[10], 'p');
  EXPECT_EQ(CU(cuMemHostUnregister)(pinned), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CU(CU(cuMemFreeHost)(pinned));
  EXPECT_EQ(CU(cuMemFreeHost)(pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemAllocHost_v2)(&pinned, 64));
  EXPECT_CU(CU(cuMemFreeHost)(pinned));
  EXPECT_EQ(CU(cuMemHostAlloc)(&pinned, 64, 0x80), CUDA_ERROR_INVALID_VALUE);

  std::vector<char> own(1 << 16);
  const auto register_own = CU(cuMemHostRegister_v2);
  EXPECT_CU(register_own(own.data(), own.size(), 0));
  EXPECT_EQ(register_own(own.data() + 100, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CU(CU(cuMemHostUnregister)(own.data()));
  EXPECT_EQ(register_own(nullptr, 10, 0), CUDA_ERROR_INVALID_VALUE);
}

// Every form moves the bytes that it says, and the synchronous ones to and from the host are done
// when they return.
TEST_F(MemoryCalls, EveryFormOfCopy) {
  const CUdeviceptr a = alloc(kMiB), b = alloc(kMiB);
  CUstream stream = nullptr;
  EXPECT_CU(CU(cuStreamCreate)(&stream, 0));
  const auto number = [](void* p) { return reinterpret_cast<CUdeviceptr>(p); };
  char out[8] = {}, in[8] = "abcdefg";

  EXPECT_CU(CU(cuMemcpyHtoD_v2)(a, in, 8));
  EXPECT_CU(CU(cuMemcpyDtoD_v2)(b, a, 8));
  EXPECT_CU(CU(cuMemcpyDtoH_v2)(out, b, 8));
  EXPECT_STREQ(out, "abcdefg");
  // From pageable memory: the source may be reused at once.
  EXPECT_CU(CU(cuMemcpyHtoDAsync_v2)(a, in, 8, stream));
  std::memset(in, 0, sizeof in);
  EXPECT_CU(CU(cuMemcpyDtoDAsync_v2)(b + 8, a, 8, stream));
  EXPECT_CU(CU(cuMemcpyDtoHAsync_v2)(out, b + 8, 8, stream)) << "to pageable memory: waits";
  EXPECT_STREQ(out, "abcdefg");
  EXPECT_CU(CU(cuMemcpyPeerAsync)(b + 16, context(0), a, context(0), 8, stream));
  EXPECT_CU(CU(cuMemcpyAsync)(number(out), b + 16, 8, stream));
  EXPECT_STREQ(out, "abcdefg");
  EXPECT_CU(CU(cuMemcpy)(number(out), a + 4, 4));
  EXPECT_STREQ(out, "efg");
  EXPECT_CU(CU(cuMemcpyPeer)(b, context(0), a + 1, context(0), 7));
  EXPECT_EQ(read(b, 6), "bcdefg");

  char host[4] = {};
  EXPECT_CU(CU(cuMemcpy)(number(host), number(out), 4)) << "host to host";
  EXPECT_STREQ(host, "efg");

  const auto copy = CU(cuMemcpyDtoD_v2);
  EXPECT_CU(copy(a, b, 0));
  EXPECT_EQ(copy(0, b, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(a, b, kBlock + kMiB), CUDA_ERROR_INVALID_VALUE) << "longer than the blocks";
  EXPECT_EQ(copy(a, number(out), 8), CUDA_ERROR_INVALID_VALUE) << "pageable is no device memory";
  EXPECT_EQ(CU(cuMemcpyHtoD_v2)(a, nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMemcpyPeer)(b, reinterpret_cast<CUcontext>(16), a, context(0), 8),
            CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CU(CU(cuStreamDestroy_v2)(stream));
  for (CUdeviceptr block : {a, b}) EXPECT_CU(CU(cuMemFree_v2)(block));
}

TEST_F(MemoryCalls, PeerCopiesGoDirectlyWithPeerAccess) {
  const CUdeviceptr here = alloc(4096);
  EXPECT_CU(CU(cuCtxSetCurrent)(context(1)));
  const CUdeviceptr there = alloc(4096);
  write(there, "peer");
  EXPECT_CU(CU(cuCtxSetCurrent)(context(0)));
  // Without peer access it goes over the host's memory (copy-records.txt); a fill cannot.
  EXPECT_CU(CU(cuMemcpyPeer)(here, context(0), there, context(1), 4));
  EXPECT_EQ(read(here, 4), "peer");
  EXPECT_EQ(CU(cuMemsetD8_v2)(there, 0, 4), CUDA_ERROR_INVALID_VALUE);
  write(here, "mine");
  EXPECT_CU(CU(cuCtxEnablePeerAccess)(context(1), 0));
  EXPECT_CU(CU(cuMemcpyPeer)(here, context(0), there, context(1), 4));
  EXPECT_EQ(read(here, 4), "peer");
  EXPECT_CU(CU(cuCtxDisablePeerAccess)(context(1)));
  EXPECT_CU(CU(cuMemFree_v2)(here));
  EXPECT_CU(CU(cuMemFree_v2)(there));
}

TEST_F(MemoryCalls, EveryFormOfFill) {
  const CUdeviceptr a = alloc(64);
  EXPECT_CU(CU(cuMemsetD8_v2)(a, '1', 64));
  EXPECT_CU(CU(cuMemsetD16_v2)(a + 2, 0x3332, 1));
  EXPECT_CU(CU(cuMemsetD32_v2)(a + 4, 0x37363534, 1));
  EXPECT_EQ(read(a, 9), "112345671");
  EXPECT_CU(CU(cuMemsetD8Async)(a, 'a', 1, nullptr));
  EXPECT_CU(CU(cuMemsetD16Async)(a + 2, 0x6362, 1, nullptr));
  EXPECT_CU(CU(cuMemsetD32Async)(a + 4, 0x67666564, 1, nullptr));
  EXPECT_EQ(read(a, 9), "a1bcdefg1");
  EXPECT_EQ(CU(cuMemsetD16_v2)(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMemsetD32_v2)(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CU(cuMemsetD8_v2)(0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CU(CU(cuMemsetD8_v2)(a, 0, 0));
  EXPECT_CU(CU(cuMemFree_v2)(a));
}

}  // namespace
}  // namespace symmcts::platform::abi::test

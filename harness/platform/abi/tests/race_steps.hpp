#pragma once

#include "harness/platform/abi/tests/race_world.hpp"

// Steps that several race programs take.
namespace symmcts::platform::abi::test {

inline constexpr std::size_t kSmall = 4096;

inline CUdeviceptr pinned(const RaceWorld& w) { return reinterpret_cast<CUdeviceptr>(w.pinned); }

inline CUgraphExec captured(RaceWorld& w, const std::function<void()>& body) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CU(CU(cuStreamBeginCapture_v2)(w.a, CU_STREAM_CAPTURE_MODE_RELAXED));
  body();
  EXPECT_CU(CU(cuStreamEndCapture)(w.a, &graph));
  EXPECT_CU(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0));
  EXPECT_CU(CU(cuGraphDestroy)(graph));
  return exec;
}

inline void launch(CUgraphExec exec, CUstream stream) {
  EXPECT_CU(CU(cuGraphLaunch)(exec, stream));
}

inline void batch(CUdeviceptr to, CUdeviceptr from, CUstream stream) {
  std::vector<CUdeviceptr> into{to, to + kSmall}, out{from, from + kSmall};
  std::vector<std::size_t> sizes{kSmall, kSmall};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t index = 0;
  EXPECT_CU(CU(cuMemcpyBatchAsync_v2)(into.data(), out.data(), sizes.data(), 2, &attributes, &index,
                                      1, stream));
}

inline CUmemAllocationProp on(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return prop;
}

inline CUmemGenericAllocationHandle create(const RaceWorld& w) {
  CUmemGenericAllocationHandle handle = 0;
  const auto prop = on(w.rank);
  EXPECT_CU(CU(cuMemCreate)(&handle, RaceWorld::kBlock, &prop, 0));
  return handle;
}

inline CUdeviceptr reserve() {
  CUdeviceptr at = 0;
  EXPECT_CU(CU(cuMemAddressReserve)(&at, RaceWorld::kBlock, 0, 0, 0));
  return at;
}

inline void map(const RaceWorld& w, CUdeviceptr at, CUmemGenericAllocationHandle handle) {
  EXPECT_CU(CU(cuMemMap)(at, RaceWorld::kBlock, 0, handle, 0));
  const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, w.rank},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CU(CU(cuMemSetAccess)(at, RaceWorld::kBlock, &grant, 1));
}

inline void callback(void*) {}

}  // namespace symmcts::platform::abi::test

#include "harness/recorder/call_rules.hpp"

#include <cupti.h>
#include <gtest/gtest.h>

#include <array>

namespace symmcts::recorder {
namespace {

// Describes one successful call as the recorder would at its end.
template <typename Params>
std::string describe(Numbering& numbering, const char* function, const Params& params,
                     bool ok = true) {
  const CallRule* rule = find_rule(function);
  if (rule == nullptr || rule->describe == nullptr) return "no rule";
  CallView view;
  view.params = &params;
  view.ok = ok;
  view.per_thread_stream = is_per_thread(function);
  JsonObject args;
  rule->describe(numbering, view, args);
  return args.take();
}

CUstream stream_at(std::uint64_t value) { return reinterpret_cast<CUstream>(value); }

TEST(Names, LoseVersionAndThreadSuffix) {
  EXPECT_EQ(base_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(base_name("cuMemAlloc_v2"), "cuMemAlloc");
  EXPECT_EQ(base_name("cuMemcpy_ptds"), "cuMemcpy");
  EXPECT_EQ(base_name("cuMemcpy2DAsync_v2"), "cuMemcpy2DAsync");
  EXPECT_EQ(base_name("cuMulticastCreate"), "cuMulticastCreate");
}

TEST(Rules, CoverWhatTheSchemaLists) {
  for (const char* name : {"cuMemCreate",
                           "cuMulticastCreate",
                           "cuMemExportToShareableHandle",
                           "cuMemImportFromShareableHandle",
                           "cuMemRetainAllocationHandle",
                           "cuMemRelease",
                           "cuMemAddressReserve",
                           "cuMemAddressFree",
                           "cuMemMap",
                           "cuMemUnmap",
                           "cuMemSetAccess",
                           "cuMulticastAddDevice",
                           "cuMulticastBindMem",
                           "cuMulticastBindAddr",
                           "cuMulticastUnbind",
                           "cuMemcpyAsync_ptsz",
                           "cuMemcpyDtoDAsync_v2",
                           "cuMemsetD32Async",
                           "cuStreamWriteValue32_v2",
                           "cuStreamWaitValue64_v2",
                           "cuStreamBatchMemOp_v2",
                           "cuStreamCreate",
                           "cuStreamSynchronize",
                           "cuEventRecord",
                           "cuStreamWaitEvent",
                           "cuEventSynchronize",
                           "cuMemAlloc_v2",
                           "cuMemHostAlloc"}) {
    const CallRule* rule = find_rule(name);
    ASSERT_NE(rule, nullptr) << name;
    EXPECT_NE(rule->describe, nullptr) << name;
  }
  EXPECT_EQ(find_rule("cuLaunchKernel"), nullptr);
  EXPECT_EQ(find_rule("cuDeviceGet"), nullptr);
}

// CUDA 13.1 and later have cuMulticastBindMem_v2, whose parameters these headers do not describe.
TEST(Rules, AnUnknownVersionIsSeenWithoutArguments) {
  const CallRule* rule = find_rule("cuMulticastBindMem_v9");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->describe, nullptr);
  EXPECT_TRUE(rule->may_block);
}

TEST(Rules, FollowAMulticastObjectFromCreateToWrite) {
  Numbering numbering;
  CUmemGenericAllocationHandle native = 0x900, imported = 0x901;
  CUmulticastObjectProp prop{};
  prop.numDevices = 2;
  prop.size = 4096;
  prop.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(describe(numbering, "cuMulticastCreate", cuMulticastCreate_params{&native, &prop}),
            R"({"handle":1,"bytes":4096,"devices":2,"types":8})");

  CUmemFabricHandle fabric{};
  fabric.data[0] = 7;
  const std::string exported =
      describe(numbering, "cuMemExportToShareableHandle",
               cuMemExportToShareableHandle_params{&fabric, native, CU_MEM_HANDLE_TYPE_FABRIC, 0});
  const std::string taken = describe(
      numbering, "cuMemImportFromShareableHandle",
      cuMemImportFromShareableHandle_params{&imported, &fabric, CU_MEM_HANDLE_TYPE_FABRIC});
  EXPECT_EQ(exported.substr(0, 38), R"({"handle":1,"route":"fabric","token":")");
  EXPECT_EQ(exported.size(), 38 + 16 + 2u);
  EXPECT_EQ(taken.substr(0, 11), R"({"handle":2)");
  EXPECT_EQ(taken.substr(11), exported.substr(11));  // same route and token

  CUdeviceptr base = 0x7e8000000000;
  describe(numbering, "cuMemAddressReserve", cuMemAddressReserve_params{&base, 8192, 0, 0, 0});
  EXPECT_EQ(describe(numbering, "cuMemMap", cuMemMap_params{base + 4096, 4096, 0, imported, 0}),
            R"({"mapping":1,"range":1,"offset":4096,"bytes":4096,"handle":2})");
  EXPECT_EQ(describe(numbering, "cuMemcpyAsync",
                     cuMemcpyAsync_params{base + 4096 + 32, 0x100, 64, stream_at(0x5000)}),
            R"({"dst":{"mapping":1,"offset":32},"src":{},"bytes":64,"stream":1})");
}

TEST(Rules, AFailedCallNumbersNothing) {
  Numbering numbering;
  CUmulticastObjectProp prop{};
  prop.numDevices = 1;
  EXPECT_EQ(
      describe(numbering, "cuMulticastCreate", cuMulticastCreate_params{nullptr, &prop}, false),
      R"({"bytes":0,"devices":1,"types":0})");
  EXPECT_EQ(
      describe(numbering, "cuMulticastCreate", cuMulticastCreate_params{nullptr, nullptr}, false),
      "{}");
  EXPECT_EQ(numbering.handles.last(), 0u);
}

TEST(Rules, DescriptorsHaveNoToken) {
  Numbering numbering;
  CUmemGenericAllocationHandle handle = 0x901;
  EXPECT_EQ(
      describe(numbering, "cuMemImportFromShareableHandle",
               cuMemImportFromShareableHandle_params{&handle, reinterpret_cast<void*>(17),
                                                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}),
      R"({"handle":1,"route":"fd","token":null})");
}

TEST(Rules, HostMemoryIsPinnedOnlyWhereItWasMadeSo) {
  Numbering numbering;
  std::array<char, 64> pageable{}, block{};
  void* pinned = block.data();
  describe(numbering, "cuMemHostAlloc", cuMemHostAlloc_params{&pinned, block.size(), 0});
  const auto upload = [&](const void* source) {
    return describe(numbering, "cuMemcpyHtoDAsync_v2",
                    cuMemcpyHtoDAsync_v2_params{0x100, source, 8, nullptr});
  };
  EXPECT_EQ(upload(block.data() + 8), R"({"dst":{},"src":{"host":"pinned"},"bytes":8,"stream":1})");
  EXPECT_EQ(upload(pageable.data()),
            R"({"dst":{},"src":{"host":"pageable"},"bytes":8,"stream":1})");
}

TEST(Rules, NullStreamsOfBothKindsDiffer) {
  Numbering numbering;
  const cuMemcpyAsync_params params{0x100, 0x200, 8, nullptr};
  const std::string legacy = describe(numbering, "cuMemcpyAsync", params);
  EXPECT_NE(legacy, describe(numbering, "cuMemcpyAsync_ptsz", params));
  const cuMemcpyAsync_params named{0x100, 0x200, 8, CU_STREAM_LEGACY};
  EXPECT_EQ(legacy, describe(numbering, "cuMemcpyAsync", named));
}

TEST(Rules, FillsCountBytes) {
  Numbering numbering;
  EXPECT_EQ(describe(numbering, "cuMemsetD32Async", cuMemsetD32Async_params{0x100, 1, 10, nullptr}),
            R"({"dst":{},"bytes":40,"stream":1})");
  EXPECT_EQ(describe(numbering, "cuMemsetD2D16_v2", cuMemsetD2D16_v2_params{0x100, 64, 1, 3, 5}),
            R"({"dst":{},"bytes":30,"stream":1})");
}

TEST(Rules, BatchesListTheirWords) {
  Numbering numbering;
  std::array<CUstreamBatchMemOpParams, 2> operations{};
  operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = 0x100;
  operations[0].writeValue.value = 5;
  operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_64;
  operations[1].waitValue.address = 0x200;
  operations[1].waitValue.value64 = 6;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  EXPECT_EQ(describe(numbering, "cuStreamBatchMemOp_v2",
                     cuStreamBatchMemOp_v2_params{nullptr, 2, operations.data(), 0}),
            R"({"ops":[{"op":"write32","at":{},"value":5,"flags":0},)"
            R"({"op":"wait64","at":{},"value":6,"flags":1}],"stream":1})");
}

TEST(Rules, UnmapNamesAllItsMappings) {
  Numbering numbering;
  CUdeviceptr base = 0x7e8000000000;
  describe(numbering, "cuMemAddressReserve", cuMemAddressReserve_params{&base, 8192, 0, 0, 0});
  for (const CUdeviceptr offset : {0, 4096}) {
    describe(numbering, "cuMemMap", cuMemMap_params{base + offset, 4096, 0, 0x900, 0});
  }
  EXPECT_EQ(describe(numbering, "cuMemUnmap", cuMemUnmap_params{base, 8192}),
            R"({"mappings":[1,2],"range":1,"bytes":8192})");
}

}  // namespace
}  // namespace symmcts::recorder

// Complete or loud: every exported name, called with nothing but zeros.
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {
namespace {

// Base names (without version) of which every version on 64-bit addresses must work; the names that
// the platform promises. Versions with 32-bit addresses (CUDA 2.0) are the exceptions.
const std::set<std::string> kModelled = {"cuInit",
                                         "cuDriverGetVersion",
                                         "cuGetErrorName",
                                         "cuGetErrorString",
                                         "cuGetProcAddress",
                                         "cuDeviceGet",
                                         "cuDeviceGetCount",
                                         "cuDeviceGetName",
                                         "cuDeviceGetUuid",
                                         "cuDeviceGetAttribute",
                                         "cuDeviceComputeCapability",
                                         "cuDeviceGetPCIBusId",
                                         "cuDeviceGetByPCIBusId",
                                         "cuDeviceCanAccessPeer",
                                         "cuDeviceGetP2PAttribute",
                                         "cuDevicePrimaryCtxRetain",
                                         "cuDevicePrimaryCtxRelease",
                                         "cuDevicePrimaryCtxSetFlags",
                                         "cuDevicePrimaryCtxGetState",
                                         "cuDevicePrimaryCtxReset",
                                         "cuCtxCreate",
                                         "cuCtxDestroy",
                                         "cuCtxSetCurrent",
                                         "cuCtxGetCurrent",
                                         "cuCtxPushCurrent",
                                         "cuCtxPopCurrent",
                                         "cuCtxGetDevice",
                                         "cuCtxSynchronize",
                                         "cuCtxEnablePeerAccess",
                                         "cuCtxDisablePeerAccess",
                                         "cuCtxGetApiVersion",
                                         "cuCtxGetFlags",
                                         "cuCtxSetFlags",
                                         "cuCtxGetStreamPriorityRange",
                                         "cuCtxGetId",
                                         "cuStreamCreate",
                                         "cuStreamCreateWithPriority",
                                         "cuStreamDestroy",
                                         "cuStreamSynchronize",
                                         "cuStreamQuery",
                                         "cuStreamWaitEvent",
                                         "cuStreamGetCtx",
                                         "cuStreamGetId",
                                         "cuStreamGetFlags",
                                         "cuStreamGetPriority",
                                         "cuStreamGetDevice",
                                         "cuStreamIsCapturing",
                                         "cuStreamGetCaptureInfo",
                                         "cuStreamAddCallback",
                                         "cuLaunchHostFunc",
                                         "cuEventCreate",
                                         "cuEventRecord",
                                         "cuEventRecordWithFlags",
                                         "cuEventQuery",
                                         "cuEventSynchronize",
                                         "cuEventElapsedTime",
                                         "cuEventDestroy",
                                         "cuMemHostAlloc",
                                         "cuMemFreeHost",
                                         "cuMemHostRegister",
                                         "cuMemHostUnregister",
                                         "cuMemHostGetFlags",
                                         "cuMemcpy",
                                         "cuMemcpyAsync",
                                         "cuMemcpyPeer",
                                         "cuMemcpyPeerAsync",
                                         "cuMemsetD8Async",
                                         "cuMemsetD16Async",
                                         "cuMemsetD32Async",
                                         "cuMemAddressReserve",
                                         "cuMemAddressFree",
                                         "cuMemCreate",
                                         "cuMemRelease",
                                         "cuMemMap",
                                         "cuMemUnmap",
                                         "cuMemSetAccess",
                                         "cuMemGetAccess",
                                         "cuMemExportToShareableHandle",
                                         "cuMemImportFromShareableHandle",
                                         "cuMemGetAllocationGranularity",
                                         "cuMemGetAllocationPropertiesFromHandle",
                                         "cuMemRetainAllocationHandle",
                                         "cuMulticastCreate",
                                         "cuMulticastAddDevice",
                                         "cuMulticastBindMem",
                                         "cuMulticastBindAddr",
                                         "cuMulticastUnbind",
                                         "cuMulticastGetGranularity",
                                         "cuStreamWriteValue32",
                                         "cuStreamWaitValue32",
                                         "cuStreamWriteValue64",
                                         "cuStreamWaitValue64",
                                         "cuStreamBatchMemOp",
                                         "cuPointerGetAttribute",
                                         "cuPointerGetAttributes",
                                         "cuMemcpyBatchAsync",
                                         "cuStreamBeginCapture",
                                         "cuStreamEndCapture",
                                         "cuStreamUpdateCaptureDependencies",
                                         "cuThreadExchangeStreamCaptureMode",
                                         "cuGraphCreate",
                                         "cuGraphDestroy",
                                         "cuGraphInstantiate",
                                         "cuGraphInstantiateWithFlags",
                                         "cuGraphInstantiateWithParams",
                                         "cuGraphExecGetFlags",
                                         "cuGraphExecDestroy",
                                         "cuGraphUpload",
                                         "cuGraphLaunch",
                                         "cuGraphGetNodes",
                                         "cuGraphGetRootNodes",
                                         "cuGraphGetEdges",
                                         "cuGraphNodeGetDependencies",
                                         "cuGraphNodeGetType",
                                         "cuMemsetD2D8Async",
                                         "cuMemsetD2D16Async",
                                         "cuMemsetD2D32Async"};
// Modelled from the second version on.
const std::set<std::string> kModelledFromSecond = {
    "cuDeviceTotalMem",  "cuMemGetInfo",         "cuMemAlloc",     "cuMemAllocPitch",
    "cuMemFree",         "cuMemGetAddressRange", "cuMemAllocHost", "cuMemHostGetDevicePointer",
    "cuMemcpyHtoD",      "cuMemcpyDtoH",         "cuMemcpyDtoD",   "cuMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync",    "cuMemsetD8",     "cuMemsetD16",
    "cuMemsetD32",       "cuMemsetD2D8",         "cuMemsetD2D16",  "cuMemsetD2D32"};

bool modelled(const std::string& api, const std::string& elf) {
  if (kModelled.contains(api)) return true;
  return kModelledFromSecond.contains(api) && elf.starts_with(api + "_v2");
}

// Every exported name: those of cudaTypedefs.h with all versions and per-thread variants.
std::map<std::string, std::string> exported() {
  std::ifstream in(std::string(SYMMCTS_CUDA_HEADERS) + "/cudaTypedefs.h");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string header = text.str();
  const std::regex typedefs(R"(\*PFN_(cu\w+?)_v\d+(_ptds|_ptsz)?\)\()");
  std::map<std::string, std::string> out;
  for (std::sregex_iterator at(header.begin(), header.end(), typedefs), end; at != end; ++at) {
    const std::string api = (*at)[1];
    for (const char* version : {"", "_v2", "_v3", "_v4"}) {
      for (const char* variant : {"", "_ptds", "_ptsz"}) {
        const std::string elf = api + version + variant;
        if (dlsym(library(), elf.c_str()) != nullptr) out[elf] = api;
      }
    }
  }
  return out;
}

class Complete : public World {};

// Zero arguments are valid for few functions; none may crash, and NOT_SUPPORTED must come from
// exactly those that are not modelled, each naming itself once however often it is called.
TEST_F(Complete, EveryNameAnswersOrNamesItself) {
  const auto names = exported();
  ASSERT_GE(names.size(), 634U);
  for (const auto& [elf, api] : names) {
    if (elf == "cuGetExportTable") continue;  // tested with the lookup
    using Zeros = CUresult (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                               std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                               std::uint64_t, std::uint64_t, std::uint64_t);
    const auto call = find<Zeros>(elf.c_str());
    ::testing::internal::CaptureStderr();
    const CUresult result = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const CUresult again = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const std::string said = ::testing::internal::GetCapturedStderr();
    if (modelled(api, elf)) {
      EXPECT_NE(result, CUDA_ERROR_NOT_SUPPORTED) << elf;
      EXPECT_NE(again, CUDA_ERROR_NOT_SUPPORTED) << elf;
    } else {
      EXPECT_EQ(result, CUDA_ERROR_NOT_SUPPORTED) << elf;
      EXPECT_EQ(again, CUDA_ERROR_NOT_SUPPORTED) << elf;
      EXPECT_EQ(said, "symm-cts platform: " + elf + " is not modelled\n");
    }
  }
  use_device(1);
  use_device(0);  // for TearDown: the zeros have released and reset contexts
}

}  // namespace
}  // namespace symmcts::platform::abi::test

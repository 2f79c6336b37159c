// Calls that can never return: the platform must say so.
#include <cstring>

#include "tests/fuzz/actions.hpp"
#include "tests/fuzz/episodes.hpp"

namespace symmcts::fuzz {
namespace {

const Expect kSuccess = Expect::success();

CUmemGenericAllocationHandle team(Session& s) {
  CUmulticastObjectProp prop{};
  prop.numDevices = 2;
  prop.size = kBlock;
  prop.handleTypes = s.world.fabric ? kFabric : kFd;
  CUmemGenericAllocationHandle value = 0;
  s.call("multicast", kSuccess, [&] { return s.cu.cuMulticastCreate(&value, &prop); });
  if (s.world.fabric && s.draw.once_in(3)) {  // an empty one (A4.8)
    CUmemFabricHandle token{};
    s.call("export token", kSuccess, [&] {
      return s.cu.cuMemExportToShareableHandle(&token, value, CU_MEM_HANDLE_TYPE_FABRIC, 0);
    });
    s.call("release", kSuccess, [&] { return s.cu.cuMemRelease(value); });
    s.call("import token", kSuccess, [&] {
      return s.cu.cuMemImportFromShareableHandle(&value, &token, CU_MEM_HANDLE_TYPE_FABRIC);
    });
  }
  if (s.draw.once_in(2))
    s.call("add device", kSuccess, [&] { return s.cu.cuMulticastAddDevice(value, 0); });
  return value;
}

CUmemGenericAllocationHandle memory(Session& s) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle value = 0;
  s.call("create", kSuccess, [&] { return s.cu.cuMemCreate(&value, kBlock, &prop, 0); });
  return value;
}

CUdeviceptr range(Session& s) {
  CUdeviceptr at = 0;
  s.call("reserve", kSuccess, [&] { return s.cu.cuMemAddressReserve(&at, kBlock, 0, 0, 0); });
  return at;
}

}  // namespace

void stand_still(Session& s, char* where, std::size_t size) {
  const auto waits_in = [&](const char* call) { std::strncpy(where, call, size - 1); };
  use(s, 0);
  switch (s.draw.below(3)) {
    case 0: {
      const auto object = team(s), bound = memory(s);
      waits_in("cuMulticastBindMem");
      s.call("bind for ever", Expect::anything(),
             [&] { return s.cu.cuMulticastBindMem(object, 0, bound, 0, kBlock, 0); });
      break;
    }
    case 1: {
      const auto object = team(s);
      const CUdeviceptr at = range(s);
      waits_in("cuMemMap");
      s.call("map for ever", Expect::anything(),
             [&] { return s.cu.cuMemMap(at, kBlock, 0, object, 0); });
      break;
    }
    default: {
      const CUdeviceptr at = range(s);
      const auto word = memory(s);
      s.call("map", kSuccess, [&] { return s.cu.cuMemMap(at, kBlock, 0, word, 0); });
      const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      s.call("set access", kSuccess, [&] { return s.cu.cuMemSetAccess(at, kBlock, &grant, 1); });
      CUstream stream = nullptr;
      s.call("create stream", kSuccess,
             [&] { return s.cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); });
      s.call("wait for ever", kSuccess,
             [&] { return s.cu.cuStreamWaitValue32(stream, at, 0x7fff, CU_STREAM_WAIT_VALUE_EQ); });
      waits_in("cuStreamSynchronize");
      s.call("synchronize for ever", Expect::anything(),
             [&] { return s.cu.cuStreamSynchronize(stream); });
    }
  }
  throw Finding(std::string(where) + " returned although it can never");
}

}  // namespace symmcts::fuzz

#include "tests/bench/driver_calls.hpp"

#include <cuda.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "tests/bench/median.hpp"
#include "tests/bench/pair.hpp"

namespace symmcts::bench {
namespace {

enum Name : std::size_t { kCreate, kExport, kImport, kReserve, kMap, kAccess, kFill, kSettle };

class Calls {
 public:
  Calls(const symm_mem::Team& team, std::size_t bytes)
      : type_(static_cast<CUmemAllocationHandleType>(team.terms().route)) {
    need(cuCtxGetDevice(&device_), "cuCtxGetDevice");
    prop_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop_.requestedHandleTypes = type_;
    prop_.location = {CU_MEM_LOCATION_TYPE_DEVICE, device_};
    const std::size_t granularity = team.terms().granularity;
    // The block's signal pads lie before its data (layout.hpp): less than a granule.
    size_ = (bytes + granularity - 1) / granularity * granularity + granularity;
  }

  // One of each, in the rendezvous's order; then all is given back.
  void round(std::array<std::vector<double>, 8>& times) {
    CUmemGenericAllocationHandle memory = 0, imported = 0;
    CUdeviceptr at = 0;
    std::array<unsigned char, 64> token{};
    int fd = -1;
    const bool descriptor = type_ == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    void* out = descriptor ? static_cast<void*>(&fd) : token.data();
    const CUmemAccessDesc grant{prop_.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const auto time = [&](Name name, const auto& call) {
      times[name].push_back(microseconds(call));
    };
    time(kCreate, [&] { need(cuMemCreate(&memory, size_, &prop_, 0), "cuMemCreate"); });
    time(kReserve, [&] { need(cuMemAddressReserve(&at, size_, 0, 0, 0), "cuMemAddressReserve"); });
    time(kMap, [&] { need(cuMemMap(at, size_, 0, memory, 0), "cuMemMap"); });
    time(kAccess, [&] { need(cuMemSetAccess(at, size_, &grant, 1), "cuMemSetAccess"); });
    time(kFill, [&] { need(cuMemsetD8(at, 0, kPads), "cuMemsetD8"); });
    time(kSettle, [&] { need(cuCtxSynchronize(), "cuCtxSynchronize"); });
    time(kExport, [&] {
      need(cuMemExportToShareableHandle(out, memory, type_, 0), "cuMemExportToShareableHandle");
    });
    void* from =
        descriptor ? reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)) : token.data();
    time(kImport, [&] {
      need(cuMemImportFromShareableHandle(&imported, from, type_),
           "cuMemImportFromShareableHandle");
    });
    if (fd >= 0) close(fd);
    need(cuMemUnmap(at, size_), "cuMemUnmap");
    need(cuMemAddressFree(at, size_), "cuMemAddressFree");
    for (const auto handle : {imported, memory}) need(cuMemRelease(handle), "cuMemRelease");
  }

 private:
  static constexpr std::size_t kPads = 4096;
  const CUmemAllocationHandleType type_;
  CUdevice device_ = 0;
  CUmemAllocationProp prop_{};
  std::size_t size_ = 0;
};

}  // namespace

CallTimes measure_calls(const symm_mem::Team& team, std::size_t bytes, int rounds) {
  constexpr int kWarmUps = 2;
  std::array<std::vector<double>, 8> times;
  Calls calls(team, bytes);
  for (int round = 0; round < rounds + kWarmUps; ++round) {
    if (round == kWarmUps) times = {};
    calls.round(times);
  }
  // Of two ranks each maps its own memory and its peer's.
  CallTimes out = {CallTime{"create", 1}, {"export", 1},     {"import", 1},
                   {"reserve", 2},        {"map", 2},        {"access", 2},
                   {"memset", 1},         {"synchronize", 1}};
  for (std::size_t i = 0; i < out.size(); ++i) out[i].each = median(times[i]);
  return out;
}

double sum(const CallTimes& calls) {
  double all = 0;
  for (const CallTime& call : calls) all += call.times * call.each;
  return all;
}

}  // namespace symmcts::bench

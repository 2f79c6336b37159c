#include "platform_rank.hpp"

#include <dlfcn.h>
#include <stdlib.h>

#include <array>

#include "harness/permit/driver_kind.hpp"

namespace symmcts::test {

// What symmcts_platform.h asks of an exchange.
class PlatformRank::Observer : public symm_mem::ExchangeObserver {
 public:
  Observer() {
    find(managed_, "symmcts_platform_managed");
    find(out_, "symmcts_platform_message_out");
    find(begin_, "symmcts_platform_wait_begin");
    find(end_, "symmcts_platform_wait_end");
  }
  void managed() const { managed_(); }
  std::uint64_t leaving(int to) override { return out_(to); }
  int wait_begins(std::chrono::nanoseconds deadline) override {
    return begin_(static_cast<std::uint64_t>(deadline.count()));
  }
  bool wait_ends(std::span<const std::uint64_t> values) override {
    return end_(values.data(), values.size()) != 0;
  }

 private:
  template <typename Function>
  static void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  }
  void (*managed_)() = nullptr;
  std::uint64_t (*out_)(int) = nullptr;
  int (*begin_)(std::uint64_t) = nullptr;
  int (*end_)(const std::uint64_t*, std::size_t) = nullptr;
};

PlatformRank::PlatformRank(symm_mem::Exchange& exchange, const RankSetup& setup,
                           Complaints& complaints)
    : exchange_(exchange), complaints_(complaints) {
  const LoadedDriver driver = loaded_driver();
  if (!expect(driver.kind == DriverKind::software,
              "the driver is not the software platform: " + driver.path)) {
    return;
  }
  ::setenv("SYMMCTS_MACHINE", (setup.directory + "/machine.sock").c_str(), 1);
  ::setenv("SYMMCTS_PLATFORM", setup.platform.c_str(), 1);
  ::setenv("SYMMCTS_SCENARIO", setup.scenario.c_str(), 1);
  ::setenv("SYMMCTS_RANK", std::to_string(exchange.rank()).c_str(), 1);
  ::setenv("SYMMCTS_HOST", std::to_string(setup.host_each ? exchange.rank() : 0).c_str(), 1);
  ::unsetenv("CUDA_INJECTION64_PATH");
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  if (setup.managed) {
    observer_ = std::make_unique<Observer>();
    observer_->managed();
    exchange_.set_observer(observer_.get());
  }

  context_.exchange = &exchange;
  context_.rank = exchange.rank();
  context_.size = exchange.size();
  context_.root = setup.root;
  context_.multicast_permitted = setup.permit;
  context_.handle_types = setup.handle_types;
  context_.on_phase = [this](std::string_view phase) { phases_.emplace_back(phase); };
  CUcontext context = nullptr;
  if (expect(cuInit(0), "cuInit") &&
      expect(cuDeviceGet(&context_.device, setup.host_each ? 0 : exchange.rank()), "cuDeviceGet") &&
      expect(cuDevicePrimaryCtxRetain(&context, context_.device), "cuDevicePrimaryCtxRetain") &&
      expect(cuCtxPushCurrent(context), "cuCtxPushCurrent") &&
      expect(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate") &&
      expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent")) {
    context_.context = context;
  }
}

PlatformRank::~PlatformRank() { exchange_.set_observer(nullptr); }

bool PlatformRank::expect(bool ok, const std::string& text) {
  if (!ok) complaints_.push_back(text);
  return ok;
}

bool PlatformRank::expect(const Outcome& outcome, const std::string& text) {
  return expect(outcome.ok, text + ": " + outcome.call + ": " + outcome.text);
}

bool PlatformRank::expect(CUresult code, const std::string& text) {
  return expect(code == CUDA_SUCCESS, text + " returned " + std::to_string(code));
}

std::byte PlatformRank::pattern(int rank, int round, std::size_t at) {
  return static_cast<std::byte>(at * 31 + at / 251 + static_cast<std::size_t>(rank) * 101 +
                                static_cast<std::size_t>(round) * 17 + 1);
}

CUdeviceptr PlatformRank::make_source(std::size_t bytes) {
  CUdeviceptr source = 0;
  CUcontext context = nullptr;
  expect(cuCtxPushCurrent(context_.context), "cuCtxPushCurrent");
  expect(cuMemAlloc(&source, bytes), "cuMemAlloc");
  expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
  return source;
}

void PlatformRank::fill_source(CUdeviceptr source, std::size_t bytes, int round) {
  std::vector<std::byte> host(bytes);
  for (std::size_t i = 0; i < bytes; ++i) host[i] = pattern(context_.rank, round, i);
  CUcontext context = nullptr;
  expect(cuCtxPushCurrent(context_.context), "cuCtxPushCurrent");
  // In stream order, so that a copy of the last round has read the source before.
  expect(cuMemcpyHtoDAsync(source, host.data(), bytes, stream_), "cuMemcpyHtoDAsync");
  expect(cuStreamSynchronize(stream_), "cuStreamSynchronize");
  expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
}

std::vector<std::byte> PlatformRank::read(CUdeviceptr from, std::size_t bytes) {
  std::vector<std::byte> host(bytes);
  CUcontext context = nullptr;
  expect(cuCtxPushCurrent(context_.context), "cuCtxPushCurrent");
  expect(cuMemcpyDtoHAsync(host.data(), from, bytes, stream_), "cuMemcpyDtoHAsync");
  expect(cuStreamSynchronize(stream_), "cuStreamSynchronize");
  expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
  return host;
}

void PlatformRank::all_gathers(Block& block, std::size_t bytes_per_rank, bool use_multicast) {
  constexpr int kRounds = 5;
  const CUdeviceptr source = make_source(bytes_per_rank);
  for (int round = 0; round < kRounds; ++round) {
    fill_source(source, bytes_per_rank, round);
    if (!expect(block.all_gather(source, bytes_per_rank, use_multicast, stream_), "all_gather")) {
      return;
    }
    const auto size = static_cast<std::size_t>(context_.size);
    const std::vector<std::byte> got = read(block.local(), bytes_per_rank * size);
    for (std::size_t rank = 0; rank < size; ++rank) {
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < bytes_per_rank; ++i) {
        wrong += got[rank * bytes_per_rank + i] != pattern(static_cast<int>(rank), round, i);
      }
      expect(wrong == 0, "round " + std::to_string(round) + ": " + std::to_string(wrong) +
                             " bytes of rank " + std::to_string(rank) + " are wrong");
    }
  }
  CUcontext context = nullptr;
  expect(cuCtxPushCurrent(context_.context), "cuCtxPushCurrent");
  expect(cuMemFree(source), "cuMemFree");
  expect(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
}

bool PlatformRank::imported(CUdeviceptr address) {
  std::uint64_t types = ~std::uint64_t{0};
  expect(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address),
         "cuPointerGetAttribute");
  return types == 0;
}

std::uint64_t PlatformRank::clock() {
  if (observer_ == nullptr) return 0;
  // A message to oneself: out and in again.
  const std::uint64_t stamp = observer_->leaving(exchange_.rank());
  (void)observer_->wait_begins(std::chrono::nanoseconds(1));
  (void)observer_->wait_ends(std::array<std::uint64_t, 1>{stamp});
  return stamp & ((std::uint64_t{1} << 48) - 1);  // symmcts_platform.h
}

void PlatformRank::expect_no_current_context(const std::string& after) {
  CUcontext current = nullptr;
  expect(cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  expect(current == nullptr, "a context is left current by " + after);
}

}  // namespace symmcts::test

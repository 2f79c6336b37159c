// What the software platform costs: enqueueing a copy, and create + map + set access; and how that
// grows with the ranks of a machine. Bounds: the project's issue "The software platform, complete".
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/platform/abi/tests/open_platform.hpp"
#include "tests/bench/median.hpp"
#include "tests/bench/rank_machine.hpp"

using namespace symmcts::bench;

namespace {

constexpr std::size_t kBlock = std::size_t{2} << 20;
constexpr double kEnqueueBound = 2.0, kCreateBound = 60.0;  // us
// From 2 ranks on each rank has one peer more for each further rank; noise of a shared machine.
constexpr double kGrowthBound = 1.25;

struct Options {
  std::string library;
  std::vector<int> ranks = {2, 8, 18, 72};
  bool check = false;
};

double enqueue(const Driver& cu) {
  constexpr int kCopies = 200, kRounds = 50;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  need(cu.cuMemAlloc(&memory, 2 * 4096), "cuMemAlloc");
  need(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  std::vector<double> samples;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCopies; ++i) {
      samples.push_back(microseconds([&] {
        need(cu.cuMemcpyDtoDAsync(memory + 4096, memory, 4096, stream), "cuMemcpyDtoDAsync");
      }));
    }
    need(cu.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
  need(cu.cuStreamDestroy(stream), "cuStreamDestroy");
  need(cu.cuMemFree(memory), "cuMemFree");
  return median(std::move(samples));
}

double create_map_access(const Driver& cu) {
  CUdeviceptr at = 0;
  need(cu.cuMemAddressReserve(&at, kBlock, 0, 0, 0), "cuMemAddressReserve");
  std::vector<double> samples;
  for (int round = 0; round < 500; ++round) {
    CUmemGenericAllocationHandle handle = 0;
    samples.push_back(microseconds([&] {
      handle = create(cu, 0, CU_MEM_HANDLE_TYPE_NONE);
      map(cu, at, handle, 0);
    }));
    need(cu.cuMemUnmap(at, kBlock), "cuMemUnmap");
    need(cu.cuMemRelease(handle), "cuMemRelease");
  }
  need(cu.cuMemAddressFree(at, kBlock), "cuMemAddressFree");
  return median(std::move(samples));
}

// The bounds of calls, measured in a process of its own. False where one is exceeded.
bool calls(const Options& options) {
  const Driver cu(options.library.c_str());
  need(cu.cuInit(0), "cuInit");
  CUcontext context = nullptr;
  need(cu.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  need(cu.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  const double copy = enqueue(cu), memory = create_map_access(cu);
  std::printf("enqueue of an async copy    %7.2f us  (bound %.0f)\n", copy, kEnqueueBound);
  std::printf("create + map + set access   %7.2f us  (bound %.0f)\n", memory, kCreateBound);
  return copy <= kEnqueueBound && memory <= kCreateBound;
}

// One process of `calls`, so that this one starts ranks without a driver in it.
bool in_a_child(const Options& options) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) std::exit(calls(options) ? 0 : 1);
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
    std::fprintf(stderr, "platform_bench: the process that measures calls has failed\n");
    std::exit(3);
  }
  return WEXITSTATUS(status) == 0;
}

bool growth(const Options& options) {
  bool fine = true;
  double first = 0;
  for (const int ranks : options.ranks) {
    const double all = exchange_time(options.library, ranks);
    if (all < 0) {
      std::fprintf(stderr, "platform_bench: a rank of %d has failed\n", ranks);
      std::exit(3);
    }
    // All ranks share the machine's cores, so the time for all grows with their work together.
    const double each = all / ranks, peer = each / (ranks - 1);
    if (first == 0) first = peer;
    std::printf("%3d ranks: %9.1f us a rank, %8.2f us a rank and peer  (bound %.2f)\n", ranks, each,
                peer, kGrowthBound * first);
    fine = fine && peer <= kGrowthBound * first;
  }
  return fine;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Measures the software platform.", "platform_bench"};
  app.add_option("--lib", options.library, "the platform's libcuda.so.1, absolute")->required();
  app.add_option("--ranks", options.ranks, "numbers of ranks to measure")->check(CLI::Range(2, 72));
  app.add_flag("--check", options.check, "exit code 1 where a bound is exceeded");
  CLI11_PARSE(app, argc, argv);
  const bool quick = in_a_child(options);
  const bool grows_well = growth(options);
  if (!options.check || (quick && grows_well)) return 0;
  std::fprintf(stderr, "platform_bench: a bound is exceeded\n");
  return 1;
}

#include "tests/bench/rank_machine.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "tests/bench/median.hpp"
#include "tests/scratch_folder.hpp"

namespace symmcts::bench {
namespace {

constexpr std::size_t kBlock = std::size_t{2} << 20;
constexpr int kRounds = 5, kMostRanks = 72, kGpusPerHost = 4;

// What the ranks share beside the machine.
struct Board {
  pthread_barrier_t barrier;
  std::array<CUmemFabricHandle, kMostRanks> tokens;
  std::array<double, kRounds> microseconds;
};

Board* make_board(int ranks) {
  void* at =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* board = new (at) Board;
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&board->barrier, &attributes, static_cast<unsigned>(ranks));
  pthread_barrierattr_destroy(&attributes);
  return board;
}

void share_and_map(const Driver& cu, Board& board, int rank, int ranks,
                   const std::vector<CUdeviceptr>& places,
                   std::vector<CUmemGenericAllocationHandle>& handles) {
  const auto own = static_cast<std::size_t>(rank);
  const int device = rank % kGpusPerHost;
  handles[own] = create(cu, device, CU_MEM_HANDLE_TYPE_FABRIC);
  need(cu.cuMemExportToShareableHandle(&board.tokens[own], handles[own], CU_MEM_HANDLE_TYPE_FABRIC,
                                       0),
       "cuMemExportToShareableHandle");
  pthread_barrier_wait(&board.barrier);
  for (std::size_t peer = 0; peer < static_cast<std::size_t>(ranks); ++peer) {
    if (peer != own) {
      need(cu.cuMemImportFromShareableHandle(&handles[peer], &board.tokens[peer],
                                             CU_MEM_HANDLE_TYPE_FABRIC),
           "cuMemImportFromShareableHandle");
    }
    map(cu, places[peer], handles[peer], device);
  }
}

[[noreturn]] void be_rank(const std::string& library, Board& board, int rank, int ranks) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv("SYMMCTS_RANK", std::to_string(rank).c_str(), 1);
  setenv("SYMMCTS_HOST", std::to_string(rank / kGpusPerHost).c_str(), 1);
  const Driver cu(library.c_str());
  need(cu.cuInit(0), "cuInit");
  std::vector<CUdeviceptr> places(static_cast<std::size_t>(ranks));
  std::vector<CUmemGenericAllocationHandle> handles(places.size());
  for (CUdeviceptr& at : places)
    need(cu.cuMemAddressReserve(&at, kBlock, 0, 0, 0), "cuMemAddressReserve");
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&board.barrier);
    const double past = microseconds([&] {
      share_and_map(cu, board, rank, ranks, places, handles);
      pthread_barrier_wait(&board.barrier);
    });
    if (rank == 0) board.microseconds[static_cast<std::size_t>(round)] = past;
    for (const CUdeviceptr at : places) need(cu.cuMemUnmap(at, kBlock), "cuMemUnmap");
    for (const auto handle : handles) need(cu.cuMemRelease(handle), "cuMemRelease");
  }
  std::exit(0);
}

}  // namespace

Driver::Driver(const char* path) {
  if (path[0] != '/') {
    std::fprintf(stderr, "%s: not an absolute path; nothing was called\n", path);
    std::exit(3);
  }
  void* library = platform::abi::test::open_platform(path);
// Two levels, so that cuda.h's macros are replaced before the name becomes text.
#define SYMMCTS_BENCH_TEXT_OF(name) #name
#define SYMMCTS_BENCH_TEXT(name) SYMMCTS_BENCH_TEXT_OF(name)
#define SYMMCTS_BENCH_FIND(name) \
  name = reinterpret_cast<decltype(name)>(dlsym(library, SYMMCTS_BENCH_TEXT(name)));
  SYMMCTS_BENCH_FUNCTIONS(SYMMCTS_BENCH_FIND)
#undef SYMMCTS_BENCH_FIND
}

void need(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "platform_bench: %s returned %d\n", call, static_cast<int>(code));
  std::exit(3);
}

CUmemGenericAllocationHandle create(const Driver& cu, int device, CUmemAllocationHandleType type) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = type;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemGenericAllocationHandle handle = 0;
  need(cu.cuMemCreate(&handle, kBlock, &prop, 0), "cuMemCreate");
  return handle;
}

void map(const Driver& cu, CUdeviceptr at, CUmemGenericAllocationHandle handle, int device) {
  need(cu.cuMemMap(at, kBlock, 0, handle, 0), "cuMemMap");
  const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  need(cu.cuMemSetAccess(at, kBlock, &grant, 1), "cuMemSetAccess");
}

double exchange_time(const std::string& library, int ranks) {
  const test::ScratchFolder folder("symmcts-bench-");
  Board* board = make_board(ranks);
  if (folder.path().empty() || board == nullptr) return -1;
  setenv("SYMMCTS_PLATFORM", "gb200-nvl72", 1);
  setenv("SYMMCTS_MACHINE", (folder.path() / "machine").c_str(), 1);
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // the machine is ours too
  std::fflush(stdout);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) be_rank(library, *board, rank, ranks);
    pids.push_back(pid);
  }
  bool failed = false;
  int status = 0;
  pid_t ended = 0;
  while ((ended = wait(&status)) > 0 || errno == EINTR) {
    if (ended < 0 || status == 0 || failed) continue;
    failed = true;  // the others would wait for it for ever
    for (const pid_t pid : pids) kill(pid, SIGKILL);
  }
  std::vector<double> rounds(board->microseconds.begin(), board->microseconds.end());
  munmap(board, sizeof *board);
  return failed ? -1 : median(std::move(rounds));
}

}  // namespace symmcts::bench

#include "tests/bench/pair.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "symm_mem/exchange_unix.hpp"
#include "tests/scratch_folder.hpp"

namespace symmcts::bench {
namespace {

constexpr auto kDeadline = std::chrono::seconds(120);
constexpr std::uint64_t kTag = 77;

volatile sig_atomic_t caught = 0;

void need_peer(const symm_mem::ExchangeResult& result) {
  if (result) return;
  std::fprintf(stderr, "bench: the other process is lost: %s\n", result.text.c_str());
  std::exit(3);
}

[[noreturn]] void be_partner(const std::string& folder, int rank,
                             const std::function<int(Partner&)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  // What nobody asked for, no library may do either.
  for (const char* off :
       {"TORCH_SYMM_MEM_DISABLE_MULTICAST", "NVSHMEM_DISABLE_NVLS", "SYMM_MEM_DISABLE_MULTICAST"}) {
    setenv(off, "1", 1);
  }
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  setenv("SYMMCTS_RANK", std::to_string(rank).c_str(), 1);
  need(cuInit(0), "cuInit");
  int devices = 0;
  need(cuDeviceGetCount(&devices), "cuDeviceGetCount");
  if (devices < 2) {
    std::fprintf(stderr, "bench: two GPUs are needed, here are %d\n", devices);
    std::exit(3);
  }
  CUcontext context = nullptr;
  need(cuDevicePrimaryCtxRetain(&context, rank), "cuDevicePrimaryCtxRetain");
  need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  auto exchange = symm_mem::open_unix_exchange(folder, rank, 2);
  need(exchange.status());
  symm_mem::TeamOptions options;
  options.device = rank;
  options.context = context;
  options.permit = symm_mem::MulticastPermit::never;
  auto team = symm_mem::Team::open(*exchange.value(), options);
  need(team.status());
  Partner partner{rank, exchange.value().get(), team.value().get()};
  const int code = work(partner);
  need(team.value()->close());
  std::exit(code);
}

}  // namespace

void Partner::meet() const { slower(0); }

double Partner::slower(double mine) const {
  symm_mem::Bytes message(sizeof mine), answer;
  std::memcpy(message.data(), &mine, sizeof mine);
  need_peer(exchange->send(1 - rank, kTag, message));
  need_peer(exchange->receive(1 - rank, kTag, answer, kDeadline));
  double theirs = 0;
  std::memcpy(&theirs, answer.data(), std::min(answer.size(), sizeof theirs));
  return std::max(mine, theirs);
}

int run_pair(const std::function<int(Partner&)>& work) {
  const test::ScratchFolder folder("symmcts-bench-");
  if (folder.path().empty()) return 3;
  const std::string machine = (folder.path() / "machine").string();
  setenv("SYMMCTS_MACHINE", machine.c_str(), 1);  // for the software platform alone
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal; };
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  std::fflush(nullptr);
  std::array<pid_t, 2> pids{};
  for (int rank = 0; rank < 2; ++rank) {
    pids[static_cast<std::size_t>(rank)] = fork();
    if (pids[static_cast<std::size_t>(rank)] == 0) be_partner(folder.path().string(), rank, work);
  }
  int worst = 0, status = 0;
  pid_t ended = 0;
  bool killed = false;
  while ((ended = wait(&status)) > 0 || errno == EINTR) {
    const int code = ended < 0 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 3;
    worst = std::max(worst, code);
    if ((code > 1 || caught != 0) && !killed) {  // the other one would wait for it
      for (const pid_t pid : pids) kill(pid, SIGKILL);
      killed = true;
    }
  }
  return caught != 0 ? 128 + caught : worst;
}

void need(CUresult code, const char* call) {
  if (code == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  std::fprintf(stderr, "bench: %s: %s\n", call,
               name != nullptr ? name : std::to_string(code).c_str());
  std::exit(3);
}

void need(const symm_mem::Status& status) {
  if (status) return;
  std::fprintf(stderr, "bench: %s\n", status.error().line().c_str());
  std::exit(3);
}

}  // namespace symmcts::bench

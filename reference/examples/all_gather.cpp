// Gathers a megabyte of every rank, without MPI. Started once a rank:
//   all_gather DIRECTORY RANK SIZE
// DIRECTORY is empty, the same for all ranks of the one host, and holds their sockets.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "symm_mem/exchange_unix.hpp"
#include "symm_mem/team.hpp"

template <typename Value>  // a Status or a Result
void need(const Value& value, const symm_mem::Status& status) {
  if (!value) std::exit((std::fprintf(stderr, "%s\n", status.error().line().c_str()), 1));
}

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "all_gather DIRECTORY RANK SIZE\n"), 2;
  const int rank = std::atoi(argv[2]), size = std::atoi(argv[3]);
  auto exchange = symm_mem::open_unix_exchange(argv[1], rank, size);
  need(exchange, exchange.status());

  symm_mem::TeamOptions options;
  cuInit(0);
  cuDeviceGet(&options.device, rank);
  cuDevicePrimaryCtxRetain(&options.context, options.device);
  cuCtxSetCurrent(options.context);

  auto team = symm_mem::Team::open(*exchange.value(), options);
  need(team, team.status());
  const std::size_t part = 1 << 20;
  auto block = team.value()->make_block(part * static_cast<std::size_t>(size));
  need(block, block.status());

  CUdeviceptr mine = 0;
  CUstream stream = nullptr;
  cuMemAlloc(&mine, part);
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuMemsetD8Async(mine, static_cast<unsigned char>(rank + 1), part, stream);
  auto done = block.value()->all_gather(mine, part, symm_mem::Path::unicast, stream);
  need(done, done);
  done = block.value()->wait(stream, std::chrono::seconds(10));  // names a rank that does not come
  need(done, done);

  std::vector<unsigned char> all(part * static_cast<std::size_t>(size));
  cuMemcpyDtoH(all.data(), block.value()->local(), all.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < all.size(); ++i) right += all[i] == i / part + 1;
  std::printf("rank %d: %zu of %zu bytes\n", rank, right, all.size());
  cuStreamDestroy(stream), cuMemFree(mine);
  need(done = block.value()->close(), done);
  need(done = team.value()->close(), done);
  return right == all.size() ? 0 : 1;
}

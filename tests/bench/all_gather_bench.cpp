// The reference's all-gather of two ranks by peer copies, beside a bare program of driver calls and
// the plain peer copy, in one run. Every round has fresh random data and is checked byte by byte.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/bare_all_gather.hpp"
#include "tests/bench/median.hpp"
#include "tests/bench/pair.hpp"
#include "tests/bench/random_data.hpp"

using namespace symmcts::bench;

namespace {

// Of the issue "The reference implementation": at 256 MiB 95 % of the plain copy's rate, and
// nowhere more than 10 % slower than the bare program.
constexpr std::size_t kFullSize = std::size_t{256} << 20;
constexpr double kOfPlain = 0.95, kOverBare = 1.10;

struct Options {
  std::vector<std::size_t> sizes = {std::size_t{64} << 10, std::size_t{1} << 20,
                                    std::size_t{16} << 20, std::size_t{64} << 20, kFullSize};
  int rounds = 20;
  std::uint64_t seed = 1;
  bool check = false;
};

struct Times {
  double plain = 0, bare = 0, ours = 0;  // us: median of the rounds, of the slower rank
};

class Size {
 public:
  Size(const Partner& partner, const Options& options, std::size_t bytes)
      : partner_(partner),
        options_(options),
        data_(partner.rank, bytes, options.seed),
        made_(partner.team->make_block(2 * bytes + kWordBytes)) {
    need(made_.status());
    need(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUevent* event : {&begin_, &end_})
      need(cuEventCreate(event, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~Size() {
    for (CUevent event : {begin_, end_}) cuEventDestroy(event);
    cuStreamDestroy(stream_);
  }
  Size(const Size&) = delete;
  Size& operator=(const Size&) = delete;

  // False where any byte was wrong.
  bool measure(Times& out) {
    symm_mem::Block& block = *made_.value();
    const int rank = partner_.rank;
    const std::size_t bytes = data_.bytes();
    BareAllGather bare(rank, block.local(), block.peer(1 - rank), bytes);
    const CUdeviceptr slot = block.peer(1 - rank) + bytes * static_cast<std::size_t>(rank);
    bool right = true;
    out.plain = median_of(
        [&] { need(cuMemcpyDtoDAsync(slot, data_.source(), bytes, stream_), "cuMemcpyDtoDAsync"); },
        false, right);
    out.bare = median_of([&] { bare.enqueue(data_.source(), stream_); }, true, right);
    out.ours = median_of(
        [&] { need(block.all_gather(data_.source(), bytes, symm_mem::Path::unicast, stream_)); },
        true, right);
    partner_.meet();
    need(block.close());
    return right;
  }

 private:
  // `whole`: the own part must be there too.
  template <typename Enqueue>
  double median_of(const Enqueue& enqueue, bool whole, bool& right) {
    const CUdeviceptr replica = made_.value()->local();
    constexpr int kWarmUps = 3;
    std::vector<double> times;
    for (int round = 0; round < options_.rounds + kWarmUps; ++round) {
      data_.draw();
      need(cuMemsetD8(replica, 0xEE, 2 * data_.bytes()), "cuMemsetD8");
      need(cuCtxSynchronize(), "cuCtxSynchronize");
      partner_.meet();
      need(cuEventRecord(begin_, stream_), "cuEventRecord");
      enqueue();
      need(cuEventRecord(end_, stream_), "cuEventRecord");
      need(cuStreamSynchronize(stream_), "cuStreamSynchronize");
      float milliseconds = 0;
      need(cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
      partner_.meet();  // a plain copy of the peer has come by then
      if (round >= kWarmUps) times.push_back(milliseconds * 1e3);
      right = data_.arrived(replica, whole) && right;
      partner_.meet();
    }
    return partner_.slower(median(std::move(times)));
  }

  const Partner& partner_;
  const Options& options_;
  RandomData data_;
  symm_mem::Result<std::unique_ptr<symm_mem::Block>> made_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
};

bool within_bounds(std::size_t bytes, const Times& times) {
  const bool bare = times.ours <= kOverBare * times.bare;
  const bool plain = bytes < kFullSize || times.plain >= kOfPlain * times.ours;
  return bare && plain;
}

int measure(const Options& options, Partner& partner) {
  bool right = true, fine = true;
  if (partner.rank == 0)
    std::printf("%12s %12s %12s %12s   us, median of %d\n", "bytes", "plain copy", "bare", "ours",
                options.rounds);
  for (const std::size_t bytes : options.sizes) {
    Times times;
    right = Size(partner, options, bytes).measure(times) && right;
    const bool ok = within_bounds(bytes, times);
    fine = fine && ok;
    if (partner.rank != 0) continue;
    std::printf("%12zu %12.1f %12.1f %12.1f   %s\n", bytes, times.plain, times.bare, times.ours,
                ok ? "" : "beyond the bound");
    std::fflush(stdout);
  }
  if (!right) std::fprintf(stderr, "bench: rank %d has found wrong bytes\n", partner.rank);
  return !right || (options.check && !fine) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"All-gather of two ranks without multicast.", "all_gather_bench"};
  app.add_option("--sizes", options.sizes, "bytes a rank, multiples of 8")
      ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 34));
  app.add_option("--rounds", options.rounds, "measured rounds a size")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of the data");
  app.add_flag("--check", options.check, "exit code 1 beyond the bounds");
  CLI11_PARSE(app, argc, argv);
  return run_pair([&](Partner& partner) { return measure(options, partner); });
}

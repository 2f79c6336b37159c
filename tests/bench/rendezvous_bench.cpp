// The reference's rendezvous of two ranks against the sum of its driver calls, each measured alone.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <vector>

#include "tests/bench/driver_calls.hpp"
#include "tests/bench/median.hpp"
#include "tests/bench/pair.hpp"

using namespace symmcts::bench;

namespace {

// Of the issue "The reference implementation".
constexpr double kOverSum = 1.3;

struct Options {
  std::vector<std::size_t> sizes = {std::size_t{2} << 20, std::size_t{64} << 20};
  int rounds = 20;
  bool check = false;
};

// Microseconds in which a block is made and its peers may write; of the slower rank.
double rendezvous(const Partner& partner, std::size_t bytes, int rounds) {
  constexpr int kWarmUps = 2;
  std::vector<double> times;
  for (int round = 0; round < rounds + kWarmUps; ++round) {
    partner.meet();
    std::unique_ptr<symm_mem::Block> block;
    const double past = microseconds([&] {
      auto made = partner.team->make_block(bytes);
      need(made.status());
      block = made.take();
    });
    if (round >= kWarmUps) times.push_back(past);
    partner.meet();
    need(block->close());
  }
  return partner.slower(median(std::move(times)));
}

void print(std::size_t bytes, const CallTimes& calls, double whole) {
  std::printf("%zu bytes:", bytes);
  for (const CallTime& call : calls) std::printf(" %s %d x %.1f", call.name, call.times, call.each);
  std::printf("\n  sum %.1f us, rendezvous %.1f us: %.2f times the sum (bound %.1f)\n", sum(calls),
              whole, whole / sum(calls), kOverSum);
  std::fflush(stdout);
}

int measure(const Options& options, const Partner& partner) {
  bool fine = true;
  for (const std::size_t bytes : options.sizes) {
    const double whole = rendezvous(partner, bytes, options.rounds);
    partner.meet();
    CallTimes calls;
    // Alone: the other rank waits.
    if (partner.rank == 0) calls = measure_calls(*partner.team, bytes, options.rounds);
    partner.meet();
    if (partner.rank != 0) continue;
    print(bytes, calls, whole);
    fine = fine && whole <= kOverSum * sum(calls);
  }
  return options.check && !fine ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Rendezvous of two ranks without multicast.", "rendezvous_bench"};
  app.add_option("--sizes", options.sizes, "bytes of a block")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 34));
  app.add_option("--rounds", options.rounds, "measured rounds a size")->check(CLI::PositiveNumber);
  app.add_flag("--check", options.check, "exit code 1 beyond the bound");
  CLI11_PARSE(app, argc, argv);
  return run_pair([&](Partner& partner) { return measure(options, partner); });
}

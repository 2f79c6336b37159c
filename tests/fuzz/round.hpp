#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace symmcts::fuzz {

struct Options {
  std::string library;
  std::uint64_t seed = 1;
  double seconds = 0;      // 0: as many rounds as said
  std::size_t rounds = 0;  // 0: as long as said
  std::size_t steps = 400;
  int processes = 0;      // 1 or 2; 0: both in turn
  double patience = 300;  // of a call, before it counts as a hang
  int pretends = 0;
  std::string transcript;  // file; of a rank: with .RANK behind it
};

// What has been done so far.
struct Tally {
  std::size_t rounds = 0, steps = 0, kills = 0, standstills = 0;
};

enum class Outcome { passed, failed, interrupted };

// One machine, its ranks and what must be left of them, all drawn from `seed`. Blocks until every
// process of it has ended, the machine's broker too; says on stderr what is wrong, with the ranks'
// last calls. Precondition: interrupts() was called.
Outcome play_round(const Options& options, std::uint64_t seed, Tally& tally);

// SIGINT and SIGTERM end a round early instead of the process, so that nothing is left of it; which
// one it was, or 0.
void catch_interrupts();
int interrupted();

}  // namespace symmcts::fuzz

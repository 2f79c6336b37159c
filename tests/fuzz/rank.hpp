#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/fuzz/journal.hpp"

namespace symmcts::fuzz {

// What one process of a round does.
struct RankTask {
  std::string library;  // absolute path of the platform
  std::uint64_t seed = 0;
  std::size_t steps = 0;
  int rank = 0, ranks = 1;
  int link = -1;          // socket to the other rank
  std::size_t slots = 0;  // of the switch
  bool fabric = false, managed = false;
  bool stands_still = false;  // ends in a call that can never return
  int pretends = 0;           // for the fuzzer's own tests: 1 hangs, 2 crashes, 3 finds something
  std::FILE* transcript = nullptr;
};

// Runs the task; the process's exit code: 0, or 1 after a line on stderr about what is wrong. The
// environment names the machine.
int run_rank(const RankTask& task, Page& page);

}  // namespace symmcts::fuzz

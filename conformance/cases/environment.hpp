#pragma once

#include <cstdint>
#include <string>

#include "harness/support/result.hpp"

namespace symmcts::cases {

// What the rank program takes from its environment, besides what harness/permit reads.
struct Environment {
  int rank = -1;              // SYMMCTS_RANK; -1: not told (an MPI program asks MPI)
  int size = -1;              // SYMMCTS_SIZE
  std::uint64_t seed = 0;     // SYMMCTS_SEED: patterns of the data cases
  std::string run_directory;  // SYMMCTS_RUN_DIR: sockets of the exchange
};

// The only place in the rank program that looks at variables. The Error names one that holds no
// such number.
Result<Environment> read_environment();

}  // namespace symmcts::cases

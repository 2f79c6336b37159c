#pragma once

#include <cstdint>
#include <filesystem>

#include "tests/fuzz/journal.hpp"
#include "tests/fuzz/plan.hpp"
#include "tests/fuzz/round.hpp"

namespace symmcts::fuzz {

// Where a rank runs: the round's folder, its sockets and its place among the ranks.
struct Place {
  const std::filesystem::path& folder;
  std::uint64_t seed = 0;
  int rank = 0;
  int link = -1;    // to the other rank
  int errors = -1;  // takes its stderr
};

// In a fresh child: sets the environment of a rank, runs it, and ends the process as a program
// ends. The parent's death is its own.
[[noreturn]] void become_rank(const Options& options, const Plan& plan, const Place& place,
                              Page& page);

}  // namespace symmcts::fuzz

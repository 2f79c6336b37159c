#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/support/result.hpp"

namespace symmcts::cases {

// The command line of symmcts-rank.
struct Options {
  bool list = false;
  bool list_implementations = false;
  bool help = false;  // `text` is what to print
  std::string text;
  std::string implementation;
  bool mpi = false;                // else Unix sockets
  std::string unit;                // "Area.Case"
  int root_ordinal = 0;            // device ordinal of the first rank of each host
  bool one_visible_gpu = false;    // the device is the only one that this process sees
  std::uint32_t handle_types = 0;  // allowed routes; 0: any
  int operations = 5;              // of a measured phase
  std::size_t bytes = 0;           // of one operation and rank; 0: the case's own choice
  int group_domain = 0;            // ranks in a row that groups stay within; 0: all
  int group_size = 0;              // ranks of a group; 0: half of a domain
};

// Fails with one line for the user.
Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace symmcts::cases

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/round.hpp"

namespace symmcts::fuzz {

// What is drawn for a round beside its steps.
struct Plan {
  std::string profile;   // the machine
  bool fabric = false;   // it permits FABRIC handles
  bool named = false;    // the machine has a socket, and is no private one
  bool managed = false;  // ordered in virtual time
  int ranks = 1;
  std::size_t slots = 0;
  bool stands_still = false;
  int victim = -1;                 // is killed ...
  std::uint64_t killed_after = 0;  // ... when its journal has so many lines
  std::size_t steps = 0;

  static Plan draw(const Options& options, std::uint64_t seed);
  std::string text() const;
};

}  // namespace symmcts::fuzz

#pragma once

#include <cstdint>
#include <string>

#include "harness/platform/model/race_book.hpp"

namespace symmcts::platform {

// What a search for races looked at.
struct RaceCheckReport {
  std::uint64_t accesses = 0;  // of device work to memory
  bool whole = true;           // every process told all it did; else no race is told
};

// The `race` and `race-check` lines of machine.jsonl (harness/evidence/README.md), without line
// end.
std::string race_json(const Race& race);
std::string race_check_json(const RaceCheckReport& report);

}  // namespace symmcts::platform

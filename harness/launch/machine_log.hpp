#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/unit_result.hpp"
#include "harness/support/result.hpp"

namespace symmcts::launch {

// A unit that came to a standstill, for machine.jsonl.
struct Hang {
  std::string report;  // the broker's own record (one JSON object), or empty: the watchdog's
  std::string why;     // the watchdog's reason
};

// One line for people: why the unit hangs and where each rank stands.
std::string describe(const Hang& hang, const std::vector<RankState>& ranks);

// Writes machine.jsonl (harness/evidence/README.md): a `hang` record if `hang` is not null, an
// `exit` record for each rank that ended by itself, a `unit` record.
Status write_machine_log(const std::filesystem::path& file, const UnitResult& result,
                         const Hang* hang);

}  // namespace symmcts::launch

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

// Whether a line of the broker's report says that nothing can move any more.
bool is_hang(const std::string& line);
// What else the report says: its other whole lines, in an order that does not depend on which rank
// was heard first; then a line for each fault of the scenario that never came to be.
std::vector<std::string> other_lines(const std::filesystem::path& report);

// One line for people: why the unit hangs and where each rank stands.
std::string describe(const Hang& hang, const std::vector<RankState>& ranks);

// Writes machine.jsonl (harness/evidence/README.md): a `hang` record if `hang` is not null, the
// broker's other lines as they are, an `exit` record for each rank that ended by itself, a `unit`
// record.
Status write_machine_log(const std::filesystem::path& file, const UnitResult& result,
                         const Hang* hang, const std::vector<std::string>& others);

}  // namespace symmcts::launch

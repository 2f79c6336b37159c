#pragma once

#include <string>
#include <string_view>

#include "harness/evidence/machine.hpp"
#include "harness/support/result.hpp"

namespace symmcts::evidence {

// Read our own JSON Lines (README: schema symm-cts/evidence/1), as the recorder left them or in
// canonical order. A last line that was cut off is left out and noted, so that a killed rank's file
// still speaks; anything else that is no line of the schema is an error `path:line: what`.
Result<RankEvidence> read_rank_lines(const std::string& path, std::string_view text);
Result<MachineEvidence> read_machine_lines(const std::string& path, std::string_view text);

// The text is of this schema: its first line begins with a `header`.
bool looks_like_rank_lines(std::string_view text);

}  // namespace symmcts::evidence

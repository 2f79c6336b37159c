#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/support/result.hpp"

namespace symmcts::evidence {

struct LoadOptions {
  // Rank of a file, by the path as given; wins over what the file says (`--rank FILE=N`).
  std::map<std::string, int> rank_of;
};

// Reads one set from files: our JSONL, Kineto .json and .json.gz, told apart by content, and unit
// folders (rank-*.jsonl and machine.jsonl in them). Errors are one line that names the file:
// missing, empty, not evidence, no rank known, two files of one rank, files of different runs, a
// file that contradicts itself, a `rank_of` that names none of `paths`.
Result<EvidenceSet> load(const std::vector<std::string>& paths, const LoadOptions& options = {});

// Reads the folder of one unit, as the supervisor writes it. A folder without any rank file but
// with a machine.jsonl is a unit in which no rank got far enough to write.
Result<EvidenceSet> load_unit(const std::string& folder);

// Reads all units under `folder` (an output folder's `evidence/`), sorted by name.
Result<std::vector<EvidenceSet>> load_units(const std::string& folder);

}  // namespace symmcts::evidence

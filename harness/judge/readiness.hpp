#pragma once

#include <optional>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/operations.hpp"
#include "harness/judge/pairs.hpp"

namespace symmcts::judge {

// Of each operation of each rank, when it could have started: submitted, its stream's earlier work
// done, and what its stream waits for done. An upper bound from what the evidence shows; nothing
// where something that the copy may have waited for is not shown: a stream wait without its stream,
// a graph, a host function, a word that no recorded write explains. `operations` is in the order of
// set.ranks.
std::vector<std::vector<std::optional<Ready>>> read_readiness(
    const evidence::EvidenceSet& set, const std::vector<std::vector<Operation>>& operations,
    const JudgeOptions& options);

}  // namespace symmcts::judge

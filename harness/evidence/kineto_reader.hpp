#pragma once

#include <string>
#include <string_view>

#include "harness/evidence/model.hpp"
#include "harness/support/result.hpp"

namespace symmcts::evidence {

// Reads a PyTorch profiler trace (Kineto Chrome JSON, 2020 to 2026; facts/traces section 1a) from
// its inflated text. Survives damage: events that cannot be read are counted in `broken`,
// duplicates are left out, `cut_off` says that the text is known to be incomplete. header.rank
// stays -1 where the file does not say; `path` is used for messages only. An error, one line that
// names `path`: no trace.
Result<RankEvidence> read_kineto(const std::string& path, std::string_view text, bool cut_off);

// The rank in a file's name: rank0, rank-0, rank_0, rank-000012.jsonl, worker7; -1 where there is
// none. Only the last component of the path counts.
int rank_of_file_name(std::string_view path);

}  // namespace symmcts::evidence

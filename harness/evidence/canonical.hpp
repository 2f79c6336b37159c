#pragma once

#include <string>

#include "harness/support/result.hpp"

namespace symmcts::evidence {

// Rewrites a rank file as the recorder left it into the order that determinism is promised for:
// header, then by time (a call by its t0, a record by its start), at equal times the host's lines
// before activity records, host lines as they were written, records by content; `dropped` and
// footer last. Bytes of a line are not touched, but for the footer's seal, which must be whole
// before and is made for the new order; a cut last line is left out. `out_path` may be `raw_path`;
// it is replaced in one step. Blocks on file I/O only.
Status canonicalize(const std::string& raw_path, const std::string& out_path);

}  // namespace symmcts::evidence

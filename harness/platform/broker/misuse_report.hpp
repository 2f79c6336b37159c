#pragma once

#include <string>

#include "harness/platform/model/misuse.hpp"

namespace symmcts::platform {

// A `misuse` line of machine.jsonl (harness/evidence/README.md), without line end.
std::string misuse_json(int rank, const Misuse& misuse);

}  // namespace symmcts::platform

#pragma once

#include <string>

#include "harness/cli/options.hpp"

namespace symmcts::cli {

// The verbs of the command. Each prints its result on stdout, what went wrong on stderr, and
// returns the exit code of design section 5. They block until everything they started has ended.
int run(const RunOptions& options);
int check(const CheckOptions& options);
int repro(const ReproOptions& options);
int selftest(const SelftestOptions& options);
int list(const ListOptions& options);

}  // namespace symmcts::cli

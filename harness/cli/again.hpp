#pragma once

#include <string>

#include "harness/cli/machine.hpp"
#include "harness/cli/options.hpp"

namespace symmcts::cli {

// The parts of a command that does again what this one did: every option that has a say in the
// outcome, in words that a shell reads as they were meant.

// `word` so that a shell reads it as one word. Bytes that a terminal would obey are spelt out.
std::string quoted(const std::string& word);

// " --name VALUE", also where the value looks like an option.
std::string option(const std::string& name, const std::string& value);

// The options that repeat `placement`.
std::string repeat(const Machine& machine, const Placement& placement);

std::string again(const RunOptions& options, const Machine& machine, const std::string& unit);
std::string again(const ReproOptions& options, const Machine& machine);
std::string again(const CheckOptions& options);

}  // namespace symmcts::cli

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// One fact about the driver (harness/platform/facts.toml), and how the platform stands to it.
struct Fact {
  std::string id, says, mark, source, reason;
  bool modelled = false;
  std::vector<std::string> tests;

  // "tested": modelled, and tests show it; "modelled"; "not modelled".
  std::string standing() const;
};

// Reads the facts, in the order of the file. `origin` names it in errors
// ("file:line:column: what"). A fact that is not modelled, or modelled without a test, needs a
// reason; one that is not modelled has no tests.
Result<std::vector<Fact>> parse_facts(std::string_view text, const std::string& origin);

}  // namespace symmcts::cli

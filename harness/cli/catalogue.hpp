#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// One requirement of conformance/requirements.toml.
struct Requirement {
  std::string id, sentence, defect;
  bool must = true;                  // MUST; else SHOULD
  std::vector<std::string> sources;  // public bugs
  std::vector<std::string> rows;
  bool implemented = false;  // a case and a rule exist
};

// Reads the catalogue, in the order of the file. `origin` names it in errors
// ("file:line:column: what"). An id given twice is an error.
Result<std::vector<Requirement>> parse_catalogue(std::string_view text, const std::string& origin);

}  // namespace symmcts::cli

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/environment.hpp"
#include "harness/launch/request.hpp"
#include "harness/support/result.hpp"

namespace symmcts::launch {

// A case of the rank program.
struct UnitName {
  std::string unit;              // "Area.Case"
  std::vector<std::string> ids;  // requirements that it exercises
};

// An implementation that is built into the rank program.
struct ImplementationName {
  std::string name;
  std::string caught_by;  // a defect: the requirement that must fail; else empty
  std::string source;     // a defect: the public bug
  std::string summary;
  std::string needs;  // a defect: the handles without which it does no harm ("fabric"), or empty
};

// Asks the rank program of `request` what it holds, in the environment of the machine that the
// request names. Starts a process and waits for it, at most the request's patience with a start;
// leaves nothing behind. The Error names the program and what it said.
Result<std::vector<UnitName>> list_units(const UnitRequest& request, const Variables& host);
Result<std::vector<ImplementationName>> list_implementations(const UnitRequest& request,
                                                             const Variables& host);

// Whether the broker of `request` can read the scenario `file`; the Error is what it says: file,
// line, column and what is wrong. Likewise.
Status check_scenario(const UnitRequest& request, const std::filesystem::path& file,
                      const Variables& host);

}  // namespace symmcts::launch

#pragma once

#include <string>
#include <vector>

#include "harness/cli/catalogue.hpp"
#include "harness/cli/locations.hpp"
#include "harness/launch/listing.hpp"
#include "harness/support/result.hpp"

namespace symmcts::cli {

// Reads the catalogue of this installation.
Result<std::vector<Requirement>> load_catalogue(const Locations& at);

std::vector<std::string> ids_of(const std::vector<Requirement>& requirements);

// Fails, naming the id, if a case or the judge knows a requirement that the catalogue lacks or does
// not count as implemented, or if the catalogue counts one as implemented that has no case or no
// rule.
Status check_catalogue(const std::vector<Requirement>& requirements,
                       const std::vector<launch::UnitName>& units,
                       const std::vector<std::string>& judged);

}  // namespace symmcts::cli

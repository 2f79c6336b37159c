#include "harness/cli/catalogue_check.hpp"

#include <algorithm>
#include <set>

#include "harness/cli/toml_document.hpp"

namespace symmcts::cli {

Result<std::vector<Requirement>> load_catalogue(const Locations& at) {
  const auto text = read_file(at.catalogue());
  if (!text) return Error{text.error()};
  return parse_catalogue(text.value(), at.catalogue().string());
}

std::vector<std::string> ids_of(const std::vector<Requirement>& requirements) {
  std::vector<std::string> ids;
  for (const Requirement& requirement : requirements) ids.push_back(requirement.id);
  return ids;
}

Status check_catalogue(const std::vector<Requirement>& requirements,
                       const std::vector<launch::UnitName>& units,
                       const std::vector<std::string>& judged) {
  std::set<std::string> implemented, cased;
  for (const Requirement& requirement : requirements) {
    if (requirement.implemented) implemented.insert(requirement.id);
  }
  for (const launch::UnitName& unit : units) {
    for (const std::string& id : unit.ids) {
      cased.insert(id);
      if (implemented.count(id) == 0) {
        return Error{"case " + unit.unit + " names " + id +
                     ", which the catalogue does not count as implemented"};
      }
    }
  }
  const std::set<std::string> rules(judged.begin(), judged.end());
  for (const std::string& id : implemented) {
    if (cased.count(id) == 0) return Error{"requirement " + id + " has no case"};
    if (rules.count(id) == 0) return Error{"requirement " + id + " has no rule in the judge"};
  }
  for (const std::string& id : rules) {
    if (implemented.count(id) == 0) {
      return Error{"the judge has a rule for " + id +
                   ", which the catalogue does not count as implemented"};
    }
  }
  return {};
}

}  // namespace symmcts::cli

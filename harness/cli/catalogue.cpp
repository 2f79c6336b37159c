#include "harness/cli/catalogue.hpp"

#include <algorithm>
#include <set>

#include "harness/cli/toml_document.hpp"

namespace symmcts::cli {
namespace {

// SM-AREA-N: ids stand in file names, annotations and URLs.
bool is_id(const std::string& id) {
  const auto dash = id.rfind('-');
  if (id.rfind("SM-", 0) != 0 || dash <= 3 || dash + 1 >= id.size()) return false;
  return std::all_of(id.begin() + 3, id.begin() + static_cast<std::ptrdiff_t>(dash),
                     [](char c) { return c >= 'A' && c <= 'Z'; }) &&
         std::all_of(id.begin() + static_cast<std::ptrdiff_t>(dash) + 1, id.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::vector<Requirement>> parse_catalogue(std::string_view text, const std::string& origin) {
  TomlDocument document(text, origin);
  TomlTable top(document);
  std::vector<Requirement> requirements;
  std::set<std::string> ids;
  if (!document.failed()) top.expect_schema("symm-cts/requirements/1");
  for (TomlTable& table : top.tables("requirement")) {
    Requirement requirement;
    requirement.id = table.text("id");
    if (!is_id(requirement.id)) table.reject("id", "must look like SM-AREA-1");
    if (!ids.insert(requirement.id).second) table.reject("id", "is given twice");
    const std::string level = table.text("level");
    if (level != "MUST" && level != "SHOULD") table.reject("level", "must be MUST or SHOULD");
    requirement.must = level == "MUST";
    requirement.sentence = table.text("sentence");
    requirement.rows = table.texts("rows");
    requirement.sources = table.texts("sources");
    requirement.defect = table.text("defect");
    requirement.implemented = table.flag("implemented");
    table.close();
    requirements.push_back(std::move(requirement));
  }
  top.close();
  if (!document.failed() && requirements.empty()) {
    document.fail(document.root().source(), "holds no [[requirement]]");
  }
  if (document.failed()) return Error{document.error()};
  return requirements;
}

}  // namespace symmcts::cli

#include "harness/cli/facts_file.hpp"

#include <set>

#include "harness/cli/toml_document.hpp"

namespace symmcts::cli {

std::string Fact::standing() const {
  if (!modelled) return "not modelled";
  return tests.empty() ? "modelled" : "tested";
}

Result<std::vector<Fact>> parse_facts(std::string_view text, const std::string& origin) {
  TomlDocument document(text, origin);
  TomlTable top(document);
  std::vector<Fact> facts;
  std::set<std::string> ids;
  if (!document.failed()) top.expect_schema("symm-cts/facts/1");
  for (TomlTable& table : top.tables("fact")) {
    Fact fact;
    fact.id = table.text("id");
    if (!ids.insert(fact.id).second) table.reject("id", "is given twice");
    fact.says = table.text("says");
    fact.mark = table.text("mark");
    if (fact.mark != "D" && fact.mark != "R" && fact.mark != "I") {
      table.reject("mark", "must be D, R or I");
    }
    fact.source = table.text("source");
    const std::string state = table.text("state");
    if (state != "modelled" && state != "not-modelled") {
      table.reject("state", "must be modelled or not-modelled");
    }
    fact.modelled = state == "modelled";
    if (table.has("tests")) fact.tests = table.texts("tests");
    if (table.has("reason")) fact.reason = table.text("reason");
    if (fact.tests.empty() && fact.reason.empty()) {
      table.reject("state", "needs tests or a reason");
    }
    if (!fact.modelled && !fact.tests.empty()) {
      table.reject("tests", "show nothing that is not modelled");
    }
    table.close();
    facts.push_back(std::move(fact));
  }
  top.close();
  if (document.failed()) return Error{document.error()};
  return facts;
}

}  // namespace symmcts::cli

#include "harness/cli/profile.hpp"

#include <algorithm>

#include "harness/cli/toml_document.hpp"

namespace symmcts::cli {

Result<CertificationProfile> parse_certification_profile(std::string_view text,
                                                         const std::string& origin,
                                                         const std::vector<std::string>& known) {
  TomlDocument document(text, origin);
  TomlTable top(document);
  CertificationProfile profile;
  if (!document.failed()) top.expect_schema("symm-cts/profile/1");
  profile.name = top.text("name");
  profile.summary = top.text("summary");
  profile.must_run = top.texts("must_run");
  for (const std::string& id : profile.must_run) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      top.reject("must_run", "names " + id + ", which is not in the catalogue");
    }
  }
  for (TomlTable& table : top.tables("scenario")) {
    const std::string unit = table.text("unit");
    if (!profile.scenarios.emplace(unit, table.text("name")).second) {
      table.reject("unit", "has two scenarios");
    }
    table.close();
  }
  top.close();
  if (document.failed()) return Error{document.error()};
  return profile;
}

}  // namespace symmcts::cli

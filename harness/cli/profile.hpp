#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// A certification profile (conformance/profiles): what must have run.
struct CertificationProfile {
  std::string name, summary;
  std::vector<std::string> must_run;             // requirement ids
  std::map<std::string, std::string> scenarios;  // unit -> name in conformance/scenarios
};

// `origin` names the text in errors ("file:line:column: what"). `known` are the catalogue's ids:
// another one in must_run is an error.
Result<CertificationProfile> parse_certification_profile(std::string_view text,
                                                         const std::string& origin,
                                                         const std::vector<std::string>& known);

}  // namespace symmcts::cli

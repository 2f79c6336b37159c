#include "harness/cli/common.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/cli/console.hpp"
#include "harness/cli/output.hpp"
#include "harness/cli/toml_document.hpp"
#include "harness/judge/exit_code.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;

Result<std::map<std::string, fs::path>> find_scenarios(const CertificationProfile& profile,
                                                       const Machine& machine,
                                                       const Locations& at) {
  std::map<std::string, fs::path> files;
  if (!machine.software) return files;
  for (const auto& [unit, name] : profile.scenarios) {
    const auto file = find_named(name, at.scenarios(), "scenario");
    if (!file) return Error{file.error()};
    files[unit] = file.value();
  }
  return files;
}

Result<fs::path> find_scenario(const std::string& name, const Locations& at,
                               const launch::UnitRequest& request, const launch::Variables& host) {
  const auto file = find_named(name, at.scenarios(), "scenario");
  if (!file) return Error{file.error()};
  if (const Status read = launch::check_scenario(request, file.value(), host); !read) {
    return Error{read.error()};
  }
  return file.value();
}

Status check_scenarios(const CertificationProfile& profile,
                       const std::vector<launch::UnitName>& units) {
  for (const auto& scenario : profile.scenarios) {
    const bool known = std::any_of(units.begin(), units.end(),
                                   [&](const auto& each) { return each.unit == scenario.first; });
    if (!known) {
      return Error{"profile " + profile.name + ": scenario " + scenario.second + " is for " +
                   scenario.first + ", which is no case"};
    }
  }
  return {};
}

Result<CertificationProfile> load_profile(const std::string& name, const Locations& at,
                                          const std::vector<std::string>& known_ids) {
  const auto file = find_named(name, at.profiles(), "profile");
  if (!file) return Error{file.error()};
  const auto text = read_file(file.value());
  if (!text) return Error{text.error()};
  return parse_certification_profile(text.value(), file.value().string(), known_ids);
}

int give_up(const std::string& verb, bool json, const std::string& message) {
  report::Report result;
  result.verb = verb;
  result.exit = judge::kExitError;
  result.judgement.notes.push_back(message);
  std::fputs(json ? report::to_json(result).c_str() : report::to_text(result).c_str(), stdout);
  return fail(result.exit, message);
}

int print_result(report::Report result, const fs::path& out, bool json) {
  const Status written = write_result(out, report::to_json(result));
  if (!written) {
    result.exit = fail(judge::kExitError, written.error());
    result.judgement.notes.push_back(written.error());
  }
  report::TextOptions options;
  options.colour = stdout_is_terminal();
  std::fputs(json ? report::to_json(result).c_str() : report::to_text(result, options).c_str(),
             stdout);
  return result.exit;
}

}  // namespace symmcts::cli

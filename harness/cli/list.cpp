#include <cstdio>

#include "harness/cli/catalogue_check.hpp"
#include "harness/cli/common.hpp"
#include "harness/cli/console.hpp"
#include "harness/cli/facts_file.hpp"
#include "harness/cli/machine.hpp"
#include "harness/cli/repro_file.hpp"
#include "harness/cli/toml_document.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/launch/listing.hpp"
#include "harness/platform/model/profile_lookup.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::cli {
namespace {

void print(const std::string& id, const std::string& what) {
  std::printf("%s  %s\n", printable(id).c_str(), printable(what).c_str());
}

int list_requirements(const Locations& at) {
  const auto catalogue = load_catalogue(at);
  if (!catalogue) return fail(judge::kExitUsage, catalogue.error());
  for (const Requirement& requirement : catalogue.value()) {
    print(requirement.id, (requirement.must ? "MUST    " : "SHOULD  ") + requirement.sentence +
                              (requirement.implemented ? "" : "  [no case yet]"));
  }
  return 0;
}

// Prints one line a file of `folder`; `summary` reads it.
template <typename Summary>
int list_files(const std::filesystem::path& folder, Summary summary) {
  for (const std::string& name : names_in(folder)) {
    const std::string file = (folder / (name + ".toml")).string();
    const auto text = read_file(file);
    if (!text) return fail(judge::kExitUsage, text.error());
    const Result<std::string> line = summary(text.value(), file);
    if (!line) return fail(judge::kExitUsage, line.error());
    print(name, line.value());
  }
  return 0;
}

int list_profiles(const Locations& at) {
  const auto catalogue = load_catalogue(at);
  if (!catalogue) return fail(judge::kExitUsage, catalogue.error());
  const std::vector<std::string> ids = ids_of(catalogue.value());
  return list_files(at.profiles(),
                    [&](const std::string& text, const std::string& file) -> Result<std::string> {
                      auto profile = parse_certification_profile(text, file, ids);
                      if (!profile) return Error{profile.error()};
                      return profile.value().summary;
                    });
}

int list_platforms(const Locations& at) {
  return list_files(at.platforms(),
                    [&](const std::string&, const std::string& file) -> Result<std::string> {
                      auto loaded = platform::load_profile(file, {at.platforms().string()});
                      if (!loaded) return Error{loaded.error()};
                      return loaded.value().profile.summary;
                    });
}

int list_repros(const Locations& at) {
  return list_files(at.repros(),
                    [](const std::string& text, const std::string& file) -> Result<std::string> {
                      auto repro = parse_repro(text, file);
                      if (!repro) return Error{repro.error()};
                      return repro.value().title;
                    });
}

int list_implementations(const Locations& at, bool defects_only) {
  const launch::Variables host = launch::read_environment();
  const auto machine = find_machine(kDefaultPlatform, at);
  if (!machine) return fail(judge::kExitError, machine.error());
  const auto request = make_request(machine.value(), Placement{}, 1, 0, at, host);
  if (!request) return fail(judge::kExitUsage, request.error());
  const auto known = launch::list_implementations(request.value(), host);
  if (!known) return fail(judge::kExitError, known.error());
  for (const launch::ImplementationName& implementation : known.value()) {
    if (implementation.caught_by.empty()) {
      if (!defects_only) print(implementation.name, implementation.summary);
      continue;
    }
    print(implementation.name,
          implementation.summary + "  [" + implementation.caught_by + ", " + implementation.source +
              (implementation.needs.empty() ? "" : ", needs " + implementation.needs) + "]");
  }
  return 0;
}

int list_facts(const Locations& at) {
  const auto text = read_file(at.facts());
  if (!text) return fail(judge::kExitUsage, text.error());
  const auto facts = parse_facts(text.value(), at.facts().string());
  if (!facts) return fail(judge::kExitUsage, facts.error());
  for (const Fact& fact : facts.value()) {
    print(fact.id, fact.standing() + "  " + fact.says + " [" + fact.mark + ": " + fact.source +
                       "]" + (fact.reason.empty() ? "" : " (" + fact.reason + ")"));
  }
  return 0;
}

}  // namespace

int list(const ListOptions& options) {
  const std::string& what = options.what;
  if (options.platform && what != "facts") {
    return fail(judge::kExitUsage, "list " + what + ": --platform goes with facts only");
  }
  const auto at = find_locations();
  if (!at) return fail(judge::kExitError, at.error());
  if (what == "requirements") return list_requirements(at.value());
  if (what == "profiles") return list_profiles(at.value());
  if (what == "platforms") return list_platforms(at.value());
  if (what == "repros") return list_repros(at.value());
  if (what == "implementations") return list_implementations(at.value(), false);
  if (what == "defects") return list_implementations(at.value(), true);
  if (what == "facts") return list_facts(at.value());
  return fail(judge::kExitUsage, "list " + what +
                                     ": must be requirements, profiles, platforms, "
                                     "implementations, defects, repros or facts");
}

}  // namespace symmcts::cli

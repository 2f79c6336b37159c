#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/launch/request.hpp"
#include "harness/support/result.hpp"

namespace symmcts::cli {

// Where this installation keeps its programs and its data.
struct Locations {
  launch::Programs programs;
  std::filesystem::path data;  // holds conformance/ and fixtures/

  std::filesystem::path catalogue() const { return data / "conformance" / "requirements.toml"; }
  std::filesystem::path profiles() const { return data / "conformance" / "profiles"; }
  std::filesystem::path scenarios() const { return data / "conformance" / "scenarios"; }
  std::filesystem::path platforms() const { return data / "fixtures" / "platforms"; }
  std::filesystem::path facts() const { return data / "harness" / "platform" / "facts.toml"; }
  std::filesystem::path repros() const { return data / "fixtures" / "repros"; }
};

// Finds everything from where the running program is: programs beside it, libraries beside their
// folder, data in ../share/symm-cts, else in the source tree. Fails with one line that names what
// is missing. Where only GPUs are used the software platform may be left out.
Result<Locations> find_locations(bool software = true);

// The names NAME of the files NAME.toml in a folder, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder);

// The file that `name` means: a path (with a slash in it or ending in .toml), else NAME.toml in
// `folder`. The Error names it and says what there is instead; `what` is "profile", ...
Result<std::filesystem::path> find_named(const std::string& name,
                                         const std::filesystem::path& folder,
                                         const std::string& what);

}  // namespace symmcts::cli

#pragma once

#include <string>
#include <vector>

#include "harness/platform/model/profile.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

struct FoundFile {
  std::string path, text;
};

// The text of a file. An Error names it.
Result<FoundFile> read_text_file(const std::string& path);

// A platform profile by name (`gb200-nvl2`: NAME.toml in the first of `folders` that has it) or by
// path (anything with a slash in it or ending in .toml). The Error names what was looked for, and
// where.
Result<FoundFile> find_profile(const std::string& name, const std::vector<std::string>& folders);

struct LoadedProfile {
  Profile profile;
  std::string path;
  // The profile in one text, with all that it extends; parse_profile reads it.
  std::string text;
};

// Finds and reads a profile and those that it extends. A profile with the key `extends` needs to
// hold only what differs from the profile of that name, which lies beside it or in one of
// `folders`: a fact replaces a fact, `name` and `summary` are each file's own. Errors name the file
// in which something is wrong ("file:line:column: what"), whichever of them it is; a profile that
// extends itself over others is one.
Result<LoadedProfile> load_profile(const std::string& name,
                                   const std::vector<std::string>& folders);

}  // namespace symmcts::platform

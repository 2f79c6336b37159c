#pragma once

#include <string>
#include <vector>

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

}  // namespace symmcts::platform

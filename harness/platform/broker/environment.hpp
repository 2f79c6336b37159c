#pragma once

#include <string>
#include <vector>

namespace symmcts::platform {

// Where the broker looks for platform profiles, best first: the folder that SYMMCTS_PROFILES names,
// the folders that an installation and a build tree have beside this program, and the source tree
// it was built from. The one place of this program that reads the environment.
std::vector<std::string> profile_folders();

}  // namespace symmcts::platform

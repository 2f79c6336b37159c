#include "harness/platform/broker/profile_lookup.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "harness/support/file_kind.hpp"

namespace symmcts::platform {

Result<FoundFile> read_text_file(const std::string& path) {
  if (const std::string why = why_no_file(path); !why.empty()) return Error{path + ": " + why};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{path + ": cannot be read"};
  return FoundFile{path, text.str()};
}

Result<FoundFile> find_profile(const std::string& name, const std::vector<std::string>& folders) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) return read_text_file(name);
  std::string looked;
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + name + ".toml";
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return read_text_file(path);
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return Error{"no platform profile '" + name + "' in " + looked};
}

}  // namespace symmcts::platform

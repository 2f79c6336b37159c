#include "harness/platform/model/profile_lookup.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "harness/platform/model/profile_tree.hpp"
#include "harness/support/file_kind.hpp"

namespace symmcts::platform {
namespace {

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// One file of a chain, with its bases already merged in.
class Chain {
 public:
  Chain(TomlReader& reader, const std::vector<std::string>& folders)
      : reader_(reader), folders_(folders) {}

  // False after an error, which the reader then holds.
  bool read(const FoundFile& file, toml::table& out) {
    toml::parse_result parsed = toml::parse(file.text, file.path);
    if (!parsed) {
      reader_.fail(parsed.error().source(), std::string(parsed.error().description()));
      return false;
    }
    out = std::move(parsed.table());
    const toml::node* extends = out.get(kExtends);
    if (extends == nullptr) return true;
    const auto base = extends->value<std::string>();
    if (!base || base->empty()) {
      reader_.fail(extends->source(), "'extends' must name a profile");
      return false;
    }
    files_.push_back(file.path);
    const auto found = find(*base, folder_of(file.path));
    if (!found) {
      reader_.fail(extends->source(), "'extends': " + found.error());
      return false;
    }
    if (std::find(files_.begin(), files_.end(), found.value().path) != files_.end()) {
      reader_.fail(extends->source(),
                   "'extends' goes in a circle: " + found.value().path + " is extended by itself");
      return false;
    }
    toml::table whole;
    if (!read(found.value(), whole)) return false;
    out.erase(kExtends);
    overlay(whole, std::move(out));
    out = std::move(whole);
    return true;
  }

 private:
  Result<FoundFile> find(const std::string& base, const std::string& beside) const {
    std::vector<std::string> folders{beside};
    folders.insert(folders.end(), folders_.begin(), folders_.end());
    const bool path = base.find('/') != std::string::npos || base.ends_with(".toml");
    if (path && base.front() != '/') return read_text_file(beside + "/" + base);
    return find_profile(base, folders);
  }

  TomlReader& reader_;
  const std::vector<std::string>& folders_;
  std::vector<std::string> files_;  // that extend the one being read
};

}  // namespace

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

Result<LoadedProfile> load_profile(const std::string& name,
                                   const std::vector<std::string>& folders) {
  auto file = find_profile(name, folders);
  if (!file) return Error{file.error()};
  TomlReader reader(file.value().path);
  toml::table whole;
  if (!Chain(reader, folders).read(file.value(), whole)) return Error{reader.error()};
  auto profile = read_profile(whole, reader);
  if (!profile) return Error{profile.error()};
  LoadedProfile out;
  out.profile = std::move(profile.value());
  out.path = std::move(file.value().path);
  std::ostringstream text;
  text << whole << '\n';
  out.text = text.str();
  return out;
}

}  // namespace symmcts::platform

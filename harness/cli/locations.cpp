#include "harness/cli/locations.hpp"

#include <algorithm>

#include "harness/support/file_kind.hpp"

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

// The first of the candidates that exists, or the first one.
fs::path first_existing(const std::vector<fs::path>& candidates) {
  std::error_code error;
  for (const fs::path& path : candidates) {
    if (fs::exists(path, error)) return path.lexically_normal();
  }
  return candidates.front().lexically_normal();
}

}  // namespace

Result<Locations> find_locations(bool software) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return Error{"/proc/self/exe: " + error.message()};
  const fs::path bin = program.parent_path();
  const fs::path prefix = bin.parent_path();

  Locations at;
  const fs::path catalogue = fs::path("conformance") / "requirements.toml";
  // build/PRESET/bin lies three folders below the tree; the path compiled in serves other layouts.
  for (const fs::path& data : {prefix / "share" / "symm-cts", prefix.parent_path().parent_path(),
                               fs::path(SYMMCTS_SOURCE_DIR)}) {
    if (at.data.empty() && fs::exists(data / catalogue, error)) at.data = data;
  }
  if (at.data.empty()) {
    return Error{(prefix / "share" / "symm-cts" / catalogue).string() + ": no such file"};
  }
  at.programs.rank = bin / "symmcts-rank";
  at.programs.broker = bin / "symmcts-broker";
  at.programs.recorder = first_existing({prefix / "lib" / "libsymmcts_recorder.so",
                                         prefix / "lib" / "symm-cts" / "libsymmcts_recorder.so"});
  at.programs.platform =
      first_existing({prefix / "platform", prefix / "lib" / "symm-cts" / "platform"});
  at.programs.profiles = at.platforms();
  std::vector<fs::path> all{at.programs.rank, at.programs.recorder};
  if (software) {
    all.insert(all.end(), {at.programs.broker, at.programs.platform / "libcuda.so.1"});
  }
  for (const fs::path& needed : all) {
    if (!fs::exists(needed, error)) return Error{needed.string() + ": no such file"};
  }
  return at;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<fs::path> find_named(const std::string& name, const fs::path& folder,
                            const std::string& what) {
  std::error_code error;
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    if (const std::string why = why_no_file(name); !why.empty()) return Error{name + ": " + why};
    return fs::absolute(name);
  }
  const fs::path file = folder / (name + ".toml");
  if (!name.empty() && fs::exists(file, error)) {
    const std::string why = why_no_file(file);
    if (!why.empty()) return Error{file.string() + ": " + why};
    return file;
  }
  std::string known;
  for (const std::string& other : names_in(folder)) known += (known.empty() ? "" : ", ") + other;
  return Error{"no such " + what + ": " + name + " (there are: " + known + ")"};
}

}  // namespace symmcts::cli

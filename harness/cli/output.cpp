#include "harness/cli/output.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

// In every output folder, so that a later run knows that it may empty it.
constexpr char kMarker[] = ".symm-cts-output";

// The entries of a folder; empty where it cannot be read: then nothing of it can be removed either.
std::vector<fs::directory_entry> entries(const fs::path& folder) {
  std::vector<fs::directory_entry> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    out.push_back(*it);
  }
  return out;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code error;
  return !entry.is_symlink(error) && entry.is_directory(error);
}

bool is_file(const fs::directory_entry& entry, std::string_view part) {
  std::error_code error;
  return !entry.is_symlink(error) && entry.is_regular_file(error) &&
         entry.path().filename().string().find(part) != std::string::npos;
}

// A folder of folders, one a case, that hold nothing but files with `part` in their names.
std::string foreign_in_cases(const fs::path& folder, std::string_view part) {
  for (const auto& unit : entries(folder)) {
    if (!is_folder(unit)) return unit.path().string();
    for (const auto& file : entries(unit.path())) {
      if (!is_file(file, part)) return file.path().string();
    }
  }
  return {};
}

// The first thing in an output folder that no run has put there; empty where there is none.
// `halves`: the folder may hold output folders of parts of a run as well.
std::string foreign_in(const fs::path& folder, bool halves) {
  for (const auto& entry : entries(folder)) {
    const std::string name = entry.path().filename().string();
    std::string foreign = entry.path().string();
    if (halves && name == kMarker) continue;
    if (name == "result.json" && is_file(entry, "")) continue;
    if (name == "evidence" && is_folder(entry)) {
      foreign = foreign_in_cases(entry.path(), ".jsonl");
    } else if (name == "host" && is_folder(entry)) {
      foreign = foreign_in_cases(entry.path(), "");
    } else if (halves && is_folder(entry)) {
      foreign = foreign_in(entry.path(), false);
    }
    if (!foreign.empty()) return foreign;
  }
  return {};
}

}  // namespace

OutputFolder::OutputFolder(fs::path path, UniqueFd lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

Result<OutputFolder> prepare_output(const std::string& name) {
  if (name.empty()) return Error{"--out: must name a folder"};
  std::error_code error;
  const fs::path out = fs::absolute(name, error);
  if (!error) fs::create_directories(out, error);
  if (error) return Error{name + ": " + error.message()};
  // In this order: whoever fills an empty folder at this moment puts the marker there first.
  const bool empty = fs::is_empty(out, error);
  if (error) return Error{out.string() + ": " + error.message()};
  if (!empty && !fs::exists(out / kMarker, error)) {
    return Error{out.string() + ": holds something else than an earlier run's output"};
  }
  UniqueFd lock(open((out / kMarker).c_str(),
                     O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
  if (!lock) return Error{out.string() + ": cannot be written: " + std::strerror(errno)};
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{out.string() + (errno == EWOULDBLOCK
                                     ? std::string(": in use by another run")
                                     : std::string(": cannot be locked: ") + std::strerror(errno))};
  }
  if (const std::string foreign = foreign_in(out, true); !foreign.empty()) {
    return Error{out.string() + ": holds something else than an earlier run's output: " + foreign};
  }
  for (fs::directory_iterator it(out, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != kMarker) fs::remove_all(it->path(), error);
    if (error) break;
  }
  if (error) return Error{out.string() + ": " + error.message()};
  return OutputFolder(out, std::move(lock));
}

Status write_result(const fs::path& out, const std::string& json) {
  const fs::path file = out / "result.json";
  std::ofstream stream(file, std::ios::binary);
  stream << json;
  stream.close();
  if (!stream) return Error{file.string() + ": could not be written whole"};
  return {};
}

}  // namespace symmcts::cli

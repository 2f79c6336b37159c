#include "harness/cli/output.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace symmcts::cli {
namespace fs = std::filesystem;
namespace {

// In every output folder, so that a later run knows that it may empty it.
constexpr char kMarker[] = ".symm-cts-output";

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

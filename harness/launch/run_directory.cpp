#include "harness/launch/run_directory.hpp"

#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <random>
#include <string>

namespace symmcts::launch {
namespace fs = std::filesystem;
namespace {

// Room that the sockets below the folder need in sun_path: "/symmcts-XXXXXX" and the longest name
// that a rank or the broker adds.
constexpr std::size_t kSocketRoom = 15 + 40;

}  // namespace

RunDirectory RunDirectory::choose(const fs::path& base) {
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  std::string name = "symmcts-";
  for (int i = 0; i < 6; ++i) name += kLetters[random() % (sizeof(kLetters) - 1)];
  return RunDirectory(base / name);
}

std::size_t RunDirectory::longest_base() {
  return sizeof(sockaddr_un{}.sun_path) - 1 - kSocketRoom;
}

int RunDirectory::create() const {
  if (mkdir(path_.c_str(), 0700) != 0) return errno;
  for (const fs::path& part : {raw(), host(), tmp(), mpi()}) {
    if (mkdir(part.c_str(), 0700) == 0) continue;
    const int code = errno;
    remove();
    return code;
  }
  return 0;
}

bool RunDirectory::remove() const {
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) return true;
  // A child may have taken away its own right to list or change a folder: give it back and retry.
  chmod(path_.c_str(), 0700);
  for (fs::recursive_directory_iterator it(path_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) && !it->is_symlink(error)) chmod(it->path().c_str(), 0700);
  }
  error.clear();
  fs::remove_all(path_, error);
  return !error;
}

}  // namespace symmcts::launch

#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace symmcts {

// Why what lies at `path` is no regular file, in words that follow its name ("is a folder"); empty:
// it is one. Follows links.
inline std::string why_no_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return {};
    case S_IFDIR:
      return "is a folder, not a file";
    case S_IFCHR:
    case S_IFBLK:
      return "is a device, not a file";
    case S_IFIFO:
      return "is a pipe, not a file";
    case S_IFSOCK:
      return "is a socket, not a file";
    default:
      return "is not a file";
  }
}

}  // namespace symmcts

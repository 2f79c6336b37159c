#include "harness/launch/proc_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace symmcts::launch {

std::string read_proc(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  char block[4096];
  while (true) {
    const ssize_t got = read(fd, block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) text.clear();
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  close(fd);
  return text;
}

}  // namespace symmcts::launch

#include "harness/platform/broker/detach.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace symmcts::platform {
namespace {

void close_others(const std::vector<int>& keep) {
  std::vector<int> doomed;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    const bool kept = fd <= STDERR_FILENO || std::find(keep.begin(), keep.end(), fd) != keep.end();
    if (!kept && fd != ::dirfd(folder)) doomed.push_back(fd);
  }
  ::closedir(folder);
  for (const int fd : doomed) ::close(fd);
}

}  // namespace

bool detach_from_caller(std::vector<int> keep) {
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("symmcts-broker: fork");
    return false;
  }
  if (child > 0) ::_exit(0);
  ::setsid();
  close_others(keep);
  const int null = ::open("/dev/null", O_RDWR);
  if (null >= 0) {
    ::dup2(null, STDIN_FILENO);
    ::dup2(null, STDOUT_FILENO);
    if (null > STDERR_FILENO) ::close(null);
  }
  // What was kept is nobody else's from here on.
  for (const int fd : keep) {
    if (fd >= 0) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  return true;
}

}  // namespace symmcts::platform

#include "harness/recorder/writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace symmcts::recorder {
namespace {

constexpr int kMostFiles = 1000;

// Opens the file if nobody else writes or has written to it; -1 with errno EBUSY where one has.
// The lock belongs to the open file and goes with the process.
int open_unused(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return -1;
  struct stat status {};
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &status) == 0 &&
      status.st_size == 0) {
    return descriptor;
  }
  ::close(descriptor);
  errno = EBUSY;
  return -1;
}

}  // namespace

Writer::~Writer() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string Writer::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  owner_ = getpid();
  for (int number = 1; number <= kMostFiles; ++number) {
    const std::string name = number == 1 ? path : path + "." + std::to_string(number);
    descriptor_ = open_unused(name);
    if (descriptor_ >= 0) return name;
    if (errno != EBUSY) break;
  }
  return "";
}

bool Writer::append(Line type, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0 || getpid() != owner_) return true;
  ++counts_[static_cast<std::size_t>(type)];
  return write_line(std::string(text));
}

bool Writer::finish(const std::function<std::string(const LineCounts&)>& footer) {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0 || getpid() != owner_) return true;
  if (!write_line(sealed(digest_, footer(counts_)))) return false;
  return ::close(std::exchange(descriptor_, -1)) == 0;
}

bool Writer::write_line(std::string text) {
  text += '\n';
  digest_.add(text);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int why = written < 0 ? errno : EIO;
      ::close(std::exchange(descriptor_, -1));
      errno = why;
      return false;
    }
    done += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace symmcts::recorder

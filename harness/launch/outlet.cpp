#include "harness/launch/outlet.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace symmcts::launch {
namespace {

constexpr std::size_t kChunk = 1 << 16;  // what a pipe holds

// What does not fit on the disk is lost: nobody waits for a program's chatter.
void write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

int Outlet::open(const std::filesystem::path& file, std::uint64_t limit) {
  UniqueFd out(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!out) return errno;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  if (::fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) return errno;
  file_ = std::move(out);
  read_ = std::move(read_end);
  write_ = std::move(write_end);
  room_ = limit;
  return 0;
}

bool Outlet::drain() {
  std::array<char, kChunk> chunk;
  while (descriptor() >= 0) {
    const ssize_t got = ::read(read_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      read_.reset();
      break;
    }
    const auto size = static_cast<std::uint64_t>(got);
    write_all(file_.get(), chunk.data(), std::min(size, room_));
    flooded_ = size > room_;
    room_ -= std::min(size, room_);
    if (flooded_) return true;
  }
  return false;
}

}  // namespace symmcts::launch

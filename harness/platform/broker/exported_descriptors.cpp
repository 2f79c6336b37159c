#include "harness/platform/broker/exported_descriptors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace symmcts::platform {

UniqueFd ExportedDescriptors::open(std::uint64_t id, int& read_end) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  UniqueFd reader(ends[0]), writer(ends[1]);
  struct stat status {};
  if (::fstat(reader.get(), &status) != 0) return {};
  read_end = reader.get();
  const Inode inode{status.st_dev, status.st_ino};
  by_inode_[inode] = id;
  by_read_end_[read_end] = {id, std::move(reader), inode};
  return writer;
}

std::optional<std::uint64_t> ExportedDescriptors::find(int fd) const {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) return std::nullopt;
  const auto it = by_inode_.find({status.st_dev, status.st_ino});
  if (it == by_inode_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::uint64_t> ExportedDescriptors::close(int read_end) {
  const auto it = by_read_end_.find(read_end);
  if (it == by_read_end_.end()) return std::nullopt;
  const std::uint64_t id = it->second.id;
  by_inode_.erase(it->second.inode);
  by_read_end_.erase(it);
  return id;
}

}  // namespace symmcts::platform

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "harness/support/unique_fd.hpp"

namespace symmcts::platform {

// The POSIX descriptors that were exported. Each is the write end of a fresh pipe of which the
// broker keeps the read end: whoever holds a copy, in whatever process, keeps it open, and the last
// close shows as a hang-up on the read end. An imported descriptor is known by the pipe's inode.
class ExportedDescriptors {
 public:
  // A fresh descriptor for the broker's id `id`; empty when the system has none left. `read_end`
  // becomes the end to watch, owned by this object.
  UniqueFd open(std::uint64_t id, int& read_end);
  // The id of a descriptor that came from open(), in any copy.
  std::optional<std::uint64_t> find(int fd) const;
  // The read end has hung up: forgets it and says which id it was.
  std::optional<std::uint64_t> close(int read_end);

 private:
  using Inode = std::pair<dev_t, ino_t>;
  struct Entry {
    std::uint64_t id = 0;
    UniqueFd read_end;
    Inode inode;
  };
  std::map<int, Entry> by_read_end_;
  std::map<Inode, std::uint64_t> by_inode_;
};

}  // namespace symmcts::platform

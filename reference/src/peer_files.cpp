#include "peer_files.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "socket.hpp"

namespace symm_mem {

std::string socket_path(const std::string& directory, int rank) {
  return directory + "/rank-" + std::to_string(rank) + ".sock";
}

PeerFiles::PeerFiles(const std::string& directory, int me, int size)
    : directory_(directory), found_(static_cast<std::size_t>(size)) {
  for (int rank = 0; rank < size; ++rank) {
    if (rank == me) continue;
    Found& found = found_[static_cast<std::size_t>(rank)];
    found.file = look(rank);
    if (found.file == File()) continue;
    int code = 0;
    found.listened = bool(connect_to(socket_path(directory, rank), code));
  }
}

PeerFiles::File PeerFiles::look(int rank) const {
  struct stat status {};
  if (::stat(socket_path(directory_, rank).c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .changed = status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec};
}

bool PeerFiles::has_ended(int rank, int code) const {
  const Found& found = found_[static_cast<std::size_t>(rank)];
  if (code == ENOENT) return found.listened;  // it has removed its file
  if (code != ECONNREFUSED) return false;
  return found.listened || look(rank) != found.file;
}

}  // namespace symm_mem

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symm_mem {

// rank-r.sock in the directory of an exchange.
std::string socket_path(const std::string& directory, int rank);

// Tells a rank that has ended from one that has yet to come, where nobody listens at its socket
// file: such a file can be a dead rank's, or one that an earlier run left. What was there when this
// rank opened decides: whoever listened then, or has put a new file there since, has been of this
// run.
class PeerFiles {
 public:
  // Looks at the file of every rank but `me`, and knocks where there is one.
  PeerFiles(const std::string& directory, int me, int size);

  // `code`: why a connection to the rank failed just now.
  bool has_ended(int rank, int code) const;

 private:
  struct File {
    std::uint64_t device = 0, inode = 0;
    std::int64_t changed = 0;  // nanoseconds
    bool operator==(const File&) const = default;
  };
  struct Found {
    bool listened = false;
    File file;  // all zero: none
  };
  File look(int rank) const;

  std::string directory_;
  std::vector<Found> found_;  // by rank
};

}  // namespace symm_mem

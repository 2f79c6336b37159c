#pragma once

#include <filesystem>
#include <utility>

namespace symmcts::launch {

// The one folder in which everything that a unit creates lives: sockets, raw evidence, output of
// the children, Open MPI's own files. The path is chosen before the folder exists, so that whoever
// outlives the other, supervisor or reaper, knows what to remove.
class RunDirectory {
 public:
  // Chooses a fresh name `symmcts-XXXXXX` under `base`, which is absolute and no longer than
  // longest_base(). Creates nothing.
  static RunDirectory choose(const std::filesystem::path& base);
  // Bytes that a base may have, so that the paths of sockets below it fit in sockaddr_un.
  static std::size_t longest_base();

  // Creates the folder (mode 0700) and its parts. Returns 0 or an errno, and then leaves nothing of
  // its own behind; EEXIST if somebody else has the name.
  int create() const;
  // Removes the folder and everything in it, also what is write protected. True if nothing is left.
  // Follows no link.
  bool remove() const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path raw() const { return path_ / "raw"; }    // evidence as the ranks write it
  std::filesystem::path host() const { return path_ / "host"; }  // stdout and stderr of children
  std::filesystem::path tmp() const { return path_ / "tmp"; }    // the children's TMPDIR
  std::filesystem::path mpi() const { return path_ / "mpi"; }    // Open MPI and PMIx
  std::filesystem::path socket() const { return path_ / "machine"; }       // the broker's socket
  std::filesystem::path report() const { return path_ / "report.jsonl"; }  // the broker's report

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace symmcts::launch

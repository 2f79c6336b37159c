#pragma once

#include <cstdint>
#include <filesystem>

#include "harness/support/unique_fd.hpp"

namespace symmcts::launch {

// One stream of one program: a pipe that is read into a file, up to a limit. A program that prints
// more blocks there, so that it fills neither disk nor memory and stays where it was. Never waits.
class Outlet {
 public:
  // Opens pipe and file. 0, or an errno.
  int open(const std::filesystem::path& file, std::uint64_t limit);

  // The end that the program writes to, to be closed once the program has been forked: until then
  // the pipe has no end.
  int program_end() const { return write_.get(); }
  void close_program_end() { write_.reset(); }
  // The end to poll, or -1 when there is nothing more to be had.
  int descriptor() const { return flooded_ ? -1 : read_.get(); }

  // Takes what is there. True if that went over the limit, once.
  bool drain();

 private:
  UniqueFd read_, write_, file_;
  std::uint64_t room_ = 0;
  bool flooded_ = false;
};

}  // namespace symmcts::launch

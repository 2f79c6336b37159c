#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>

namespace symmcts::recorder {

// Appends lines to one evidence file. Each line is one write(2), so that a process that dies loses
// nothing that was written, and has no effect in a child that was forked off. Thread safe.
class Writer {
 public:
  Writer() = default;
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Opens `path` for appending and creates it. Where it already holds evidence of another process
  // (a parent of the same rank, say), takes the first free of path.2, path.3, ... Returns the path
  // taken, or "" with errno set.
  std::string open(const std::string& path);

  // `line` without its newline. Does nothing before open. False, with errno set, where the line
  // could not be written whole: the file then takes no more, for evidence with a hole in it would
  // look whole.
  bool append(std::string_view line);
  // Takes no more. False, with errno set, where the system reports a loss only now.
  bool close();

 private:
  std::mutex mutex_;
  int descriptor_ = -1;
  pid_t owner_ = -1;
};

}  // namespace symmcts::recorder

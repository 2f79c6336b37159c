#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "harness/support/seal.hpp"

namespace symmcts::recorder {

// The types of lines, as far as the footer counts them.
enum class Line : std::uint8_t { header, enter, call, copy, fill, mark, dropped };
using LineCounts = std::array<std::uint64_t, 7>;

// Appends lines to one evidence file. Each line is one write(2), so that a process that dies loses
// nothing that was written, and has no effect in a child that was forked off. A file that could not
// be written to its end has no footer, so that nobody takes it for whole. Thread safe.
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

  // `text` without its newline. Does nothing before open and after finish. False, with errno set,
  // where the line could not be written whole: the file then takes no more, and gets no footer.
  bool append(Line type, std::string_view text);

  // The last line, sealed (support/seal.hpp): `footer` is told how many lines of each type there
  // are. False, with errno set, as append, or where the system reports a loss only now.
  bool finish(const std::function<std::string(const LineCounts&)>& footer);

 private:
  bool write_line(std::string text);

  std::mutex mutex_;
  int descriptor_ = -1;
  pid_t owner_ = -1;
  Digest digest_;
  LineCounts counts_{};
};

}  // namespace symmcts::recorder

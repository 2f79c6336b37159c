#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "harness/support/unique_fd.hpp"

namespace symmcts::fuzz {

// What all processes of a round say on stderr.
class ErrorLog {
 public:
  // False where there is no pipe. `writer` is for the ranks.
  bool open(UniqueFd& writer) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader_.reset(ends[0]);
    writer.reset(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
  int fd() const { return reader_.get(); }

  // Takes in what is there; keeps the first MiB of it.
  void read() {
    std::array<char, 4096> text;
    ssize_t got = 0;
    while ((got = ::read(reader_.get(), text.data(), text.size())) > 0) {
      if (text_.size() < kMost) text_.append(text.data(), static_cast<std::size_t>(got));
    }
  }
  const std::string& text() const { return text_; }
  bool has(const char* what) const { return text_.find(what) != std::string::npos; }
  // The platform has said that nobody can move, and that `rank` waits in the call `where` (any, if
  // that is empty).
  bool stands_still(int rank, const std::string& where) const {
    const auto report = text_.rfind("no rank can move:");
    const std::string waits = " rank " + std::to_string(rank) + " waits in " + where;
    return report != std::string::npos && text_.find(waits, report) != std::string::npos;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;
  UniqueFd reader_;
  std::string text_;
};

}  // namespace symmcts::fuzz

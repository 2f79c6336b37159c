#pragma once

#include <cstddef>
#include <string>

namespace symmcts::cli {

// Colour and progress are for terminals only.
bool stdout_is_terminal();

// One line on stderr that is overwritten, if stderr is a terminal; else nothing.
class Progress {
 public:
  explicit Progress(std::size_t units);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::size_t done, const std::string& what);

 private:
  std::size_t units_;
  bool terminal_;
};

// Prints `symmcts: message` on stderr, as one line, and returns `code`.
int fail(int code, const std::string& message);

}  // namespace symmcts::cli

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
  void clear();  // before something else is printed
  void show(std::size_t done, const std::string& what);

 private:
  std::size_t units_;
  bool terminal_;
};

// What a verb that would exit with `code` exits with: the same if everything that was printed has
// reached stdout, else 3, with a line on stderr. Flushes; nothing may be printed afterwards.
int finish_stdout(int code);

// Prints `symmcts: message` on stderr, as one line, and returns `code`.
int fail(int code, const std::string& message);

}  // namespace symmcts::cli

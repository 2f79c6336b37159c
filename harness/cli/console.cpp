#include "harness/cli/console.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/judge/exit_code.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::cli {
namespace {

constexpr char kClearLine[] = "\r\033[K";

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }

Progress::Progress(std::size_t units) : units_(units), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (terminal_) std::fputs(kClearLine, stderr);
}

void Progress::show(std::size_t done, const std::string& what) {
  if (terminal_) {
    std::fprintf(stderr, "%s[%zu/%zu] %s", kClearLine, done + 1, units_, printable(what).c_str());
  }
}

int finish_stdout(int code) {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return code;
  return fail(judge::kExitError, "stdout could not be written; what was printed is incomplete");
}

int fail(int code, const std::string& message) {
  std::string line = message;
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "symmcts: %s\n", printable(line).c_str());
  return code;
}

}  // namespace symmcts::cli

#include "harness/recorder/report_line.hpp"

#include <unistd.h>

#include <string>

#include "harness/support/printable.hpp"

namespace symmcts::recorder {

void report_line(std::string_view text) {
  const std::string line = "symm-cts recorder: " + printable(text) + "\n";
  // What stderr does not take is lost: there is nobody left to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace symmcts::recorder

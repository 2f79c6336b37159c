#include "harness/platform/abi/trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <limits>

#include "harness/platform/abi/environment.hpp"

namespace symmcts::platform::abi {
namespace {

std::string hexadecimal(unsigned long long value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%llx", value);
  return digits;
}

}  // namespace

bool tracing() {
  static const bool wanted = trace_wanted();
  return wanted;
}

void TraceLine::put_plain(const char* name, const std::string& value) {
  text_ += (empty_ ? "" : ", ") + std::string(name) + '=' + value;
  empty_ = false;
}

void TraceLine::put_text(const char* name, const char* value) {
  if (value == nullptr) return put_plain(name, "0x0");
  std::string quoted = "\"";
  for (const char* at = value; *at != '\0'; ++at) {
    const bool plain = *at >= ' ' && *at != 0x7f && *at != '"' && *at != '\\';
    quoted += plain ? *at : '?';
  }
  put_plain(name, quoted + '"');
}

void TraceLine::put_address(const char* name, std::uintptr_t value) {
  put_plain(name, hexadecimal(value));
}

void TraceLine::put_unsigned(const char* name, unsigned long long value) {
  const bool small = value <= std::numeric_limits<std::uint32_t>::max();
  put_plain(name, small ? std::to_string(value) : hexadecimal(value));
}

void TraceLine::put_signed(const char* name, long long value) {
  put_plain(name, std::to_string(value));
}

void TraceLine::put_real(const char* name, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", value);
  put_plain(name, digits);
}

void TraceLine::print(int rank, Ns before, Ns after, int result) const {
  const std::string line = "symm-cts trace: rank " + (rank < 0 ? "-" : std::to_string(rank)) +
                           " t=" + std::to_string(before) + ".." + std::to_string(after) + ' ' +
                           text_ + ") = " + std::to_string(result) + '\n';
  // One write: stderr may be a file or a pipe that other threads and ranks write to as well.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace symmcts::platform::abi

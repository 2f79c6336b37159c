#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "harness/support/result.hpp"

namespace symmcts {

// Reads the value of a setting, `name` (a variable, an option), as a whole number from `least` to
// `most`. The Error names it, its value and what is allowed; `out` is then left alone.
template <typename T>
Status read_whole_number(const std::string& name, std::string_view text, T least, T most, T& out) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least || number > most) {
    return Error{name + "=" + std::string(text) + ": must be a whole number from " +
                 std::to_string(least) + " to " + std::to_string(most)};
  }
  out = number;
  return {};
}

}  // namespace symmcts

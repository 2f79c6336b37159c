#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "harness/support/utf8.hpp"

namespace symmcts {

// Does a terminal do something else with this code point than show it? Control characters, the
// line breaks of Unicode, and the marks that turn the order of what is shown around.
inline bool steers_terminal(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

// Foreign text (a program's words, a file's name, a string out of a trace) as one line that a
// terminal shows and does not obey: what steers a terminal becomes \n, \r, \t, \xNN or \uNNNN, a
// byte that is no UTF-8 becomes \xNN, everything else stays.
inline std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto escape = [&out](const char* format, unsigned number) {
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), format, number);
    out += escaped;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      escape("\\x%02x", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const std::string_view sequence = text.substr(at, length);
    const char32_t code = utf8_code_point(sequence);
    at += length;
    if (!steers_terminal(code)) {
      out += sequence;
    } else if (code == '\n' || code == '\r' || code == '\t') {
      out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else {
      escape(code < 0x80 ? "\\x%02x" : "\\u%04x", code);
    }
  }
  return out;
}

}  // namespace symmcts

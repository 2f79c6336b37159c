#pragma once

#include <string_view>

namespace symmcts::recorder {

// Writes "symm-cts recorder: TEXT" as one line to stderr, in one write, past the buffers of the
// program that is being watched.
void report_line(std::string_view text);

}  // namespace symmcts::recorder

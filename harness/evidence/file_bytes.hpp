#pragma once

#include <string>

#include "harness/support/result.hpp"

namespace symmcts::evidence {

// A file's content, inflated where it was gzip.
struct FileBytes {
  std::string bytes;
  bool cut_off = false;  // the gzip stream ended early or is damaged; `bytes` is what came before
};

// Reads a whole file; gzip is told by content, not by name. Errors, one line that names the path:
// cannot be opened or read, empty, a gzip stream without any data, more than 4 GiB inflated.
Result<FileBytes> read_file(const std::string& path);

}  // namespace symmcts::evidence

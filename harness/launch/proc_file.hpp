#pragma once

#include <string>

namespace symmcts::launch {

// The content of a file under /proc, or "" if it cannot be read: the process may go away between
// open and read, which a file stream reports by an exception.
std::string read_proc(const std::string& path);

}  // namespace symmcts::launch

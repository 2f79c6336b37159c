#pragma once

#include <optional>
#include <string>

namespace symmcts {

// What shows that this host has a real NVIDIA driver (a path), or nothing. Looks at files only:
// opens no device and loads no library, so that it is safe for a supervisor. `root` is put before
// each path, for tests. Where it cannot tell it says what it saw: too often is the safe side.
std::optional<std::string> find_real_driver_on_host(const std::string& root = "");

}  // namespace symmcts

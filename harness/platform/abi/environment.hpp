#pragma once

#include <optional>
#include <string>

#include "harness/platform/broker/client.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform::abi {

// Everything that the platform takes from the process's environment, read once by cuInit.
struct Environment {
  JoinOptions join;
  std::optional<std::string> visible_devices;  // CUDA_VISIBLE_DEVICES; empty is not unset
  std::string injection;                       // CUDA_INJECTION64_PATH; empty: none
};

// Reads it. Defaults: profile gb200-nvl2, a private broker, host 0, seed 0, and the broker program
// of the folder bin beside this library's. The error names the variable and its value.
Result<Environment> read_environment();

// SYMMCTS_TRACE is set to something else than 0. Asked apart from the rest, because calls are
// traced from the first one on.
bool trace_wanted();

}  // namespace symmcts::platform::abi

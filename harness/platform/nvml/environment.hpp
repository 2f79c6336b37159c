#pragma once

#include <string>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::platform::nvml {

// Where the machine is described. The same variables as for libcuda.so.1, and the same defaults.
struct Environment {
  std::string machine;                // SYMMCTS_MACHINE: broker socket; empty: a private machine
  std::string profile;                // SYMMCTS_PLATFORM
  std::string scenario;               // SYMMCTS_SCENARIO: a file, or empty
  int host = 0;                       // SYMMCTS_HOST
  std::vector<std::string> profiles;  // folders that hold profiles, best first
  std::string libcuda;                // path of the driver library beside this one
};

// CUDA_VISIBLE_DEVICES is not among them: NVML shows all GPUs of a host.
Result<Environment> read_environment();

}  // namespace symmcts::platform::nvml

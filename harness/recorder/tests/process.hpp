#pragma once

#include <string>
#include <vector>

namespace symmcts::recorder {

// How a program that was run to its end ended.
struct Ended {
  int code = -1;  // exit code, -1 after a signal
  int signal = 0;
  std::string error;  // what it wrote to stderr
};

// Runs a program with exactly these variables ("NAME=value") and PATH, and waits for it.
Ended run_program(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, const std::string& scratch);

}  // namespace symmcts::recorder

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

// A program that runs; its streams are files in `scratch`, named after `name`.
struct Started {
  int process = -1;  // -1: could not be started
  std::string error_file;
};

// Starts a program with exactly these variables ("NAME=value").
Started start_program(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment, const std::string& scratch,
                      const std::string& name);
// Waits for its end.
Ended wait_for(const Started& started);

// Both in one.
Ended run_program(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, const std::string& scratch);

}  // namespace symmcts::recorder

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace symmcts::launch {

// A program that the reaper starts when it is told to. Standard input is /dev/null; what it writes
// goes to the two files, up to the limit: past it nothing more is taken from the program.
struct Command {
  std::string name;               // for people: "broker", "rank 1", "mpirun"
  std::vector<std::string> argv;  // argv[0] is the program; searched on PATH if it has no slash
  std::vector<std::string> env;   // the whole environment, NAME=value
  std::filesystem::path out, err;
  std::uint64_t output_limit = 64u << 20;  // bytes, of each
};

// How a program ended, from waitpid(2).
struct Exit {
  bool known =
      false;  // false: it was killed by the supervisor, nobody knows how it would have ended
  bool signaled = false;
  int value = 0;  // exit code, or the signal
  bool clean() const { return known && !signaled && value == 0; }
};

// "exited with code 3", "was killed by signal 11 (SIGSEGV)".
std::string describe(const Exit& exit);

}  // namespace symmcts::launch

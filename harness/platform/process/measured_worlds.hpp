#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/platform/process/local_machine.hpp"

namespace symmcts::platform {

// A virtual machine that a test's clients join.
class World {
 public:
  virtual ~World() = default;
  virtual std::unique_ptr<Client> join(int rank) = 0;
};

struct WorldFactory {
  const char* name;
  // `path` is the file that `profile` was read from.
  std::unique_ptr<World> (*make)(const Profile& profile, const std::string& path);
};

// The model in this process, and the broker as a program of its own.
std::vector<WorldFactory> measured_worlds();

}  // namespace symmcts::platform

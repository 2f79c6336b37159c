#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/launch/command.hpp"
#include "harness/launch/environment.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/run_directory.hpp"

namespace symmcts::launch {

// The programs of one unit, in the order in which they are started.
struct UnitCommands {
  std::vector<Command> all;
  std::optional<std::size_t> broker;  // software platform only
  std::vector<std::size_t> launched;  // fork: one a rank, in order of ranks; mpirun: one
};

UnitCommands unit_commands(const UnitRequest& request, const RunDirectory& directory,
                           const Variables& common);

// What the evidence of this run's ranks, and of no other run's, has in its headers: what was asked
// of the rank program, in words. The same for every run of the same request.
std::string run_name(const UnitRequest& request);

}  // namespace symmcts::launch

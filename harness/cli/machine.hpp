#pragma once

#include <string>
#include <vector>

#include "harness/cli/locations.hpp"
#include "harness/cli/options.hpp"
#include "harness/launch/environment.hpp"
#include "harness/support/result.hpp"

namespace symmcts::cli {

// The machine that ranks run on.
struct Machine {
  bool software = true;
  std::string name;      // as the user gave it, for commands to be repeated
  std::string platform;  // for the broker: name, or absolute path of a file
  int hosts = 1;
  int gpus_per_host = 0;
  bool fabric = true;  // FABRIC handles may be used
};

inline constexpr char kSystem[] = "system";

// Reads the platform profile, or counts the GPUs of this host for "system" (through /proc; opens no
// device). Fails with one line for the user.
Result<Machine> find_machine(const std::string& name, const Locations& at);

// A request that holds everything but implementation, unit, scenario and output folder. Fails where
// the ranks have no room on the machine, the launcher is not there, or the folder for temporary
// files is none.
Result<launch::UnitRequest> make_request(const Machine& machine, const Placement& placement,
                                         int ranks, std::uint64_t seed, const Locations& at,
                                         const launch::Variables& host);

}  // namespace symmcts::cli

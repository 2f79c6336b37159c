#pragma once

#include <optional>
#include <string>

#include "harness/launch/commands.hpp"
#include "harness/launch/reaper_wire.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/run_directory.hpp"

namespace symmcts::launch {

// A program that printed, or a rank that recorded, more than it may.
struct Flood {
  std::string name;    // "rank 1", "broker", "a rank"
  int rank = -1;       // -1: not known, or no rank
  std::string what;    // "printed more than 4194304 bytes on stdout"
  bool stands = true;  // where it was; false: a launcher has taken its output, and it has gone on
};

// The flood that the reaper reports; `rank` of the program that it names, -1 for broker or
// launcher.
Flood printed_too_much(const UnitRequest& request, const UnitCommands& commands,
                       const Report& report, int rank);

// The first rank whose evidence has outgrown its limit.
std::optional<Flood> recorded_too_much(const UnitRequest& request, const RunDirectory& directory);

}  // namespace symmcts::launch

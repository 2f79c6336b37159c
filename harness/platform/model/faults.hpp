#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/platform/model/toml_reader.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// How the fabric manager answers when a multicast team asks to be set up.
enum class FabricManager : std::uint8_t {
  working,
  absent,     // no answer will ever come: bind and map give ILLEGAL_STATE (401; facts A9.8, A9.8b)
  restarted,  // it no longer knows the GPUs: INVALID_VALUE (1; facts A9.9, NCCL#1488)
};

// What of a machine is otherwise than its profile says, for the whole run. Every knob names the
// fact it comes from; README.md lists the keys of the scenario file.
struct Faults {
  std::optional<std::uint64_t> multicast_slots;  // fewer than the profile says (A9.10)
  // Objects take up whole units of so many bytes, and binds and maps may use all of it (A3.5).
  std::optional<std::uint64_t> multicast_capacity_unit;
  FabricManager fabric_manager = FabricManager::working;
  // The fabric manager answers so long after the last device was added. A call waits for it from
  // when it was made or the team was gathered, whichever is later, and gives up after `patience`
  // with SYSTEM_NOT_READY (802); a later call may still find the team ready (A9.6).
  Ns fabric_manager_stall = 0;
  // Reported: the manager stalled for about 7 s, the driver had given up 1 to 2 s before
  // (torchcomms#3130).
  Ns fabric_manager_patience = 5'500'000'000;
  std::vector<int> imex_withdrawn_hosts;  // hosts that have no IMEX channel (A0.6, A4.4)
  bool confidential_computing = false;    // A0.4, A0.5
  bool unbind_ignores_size = false;       // as RM detaches: by GPU and offset alone (A10.2)
};

// Reads the table [faults] of a scenario file.
Faults read_faults(TomlReader& reader, const toml::table& table);

}  // namespace symmcts::platform

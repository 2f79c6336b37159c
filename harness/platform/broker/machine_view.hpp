#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/platform/model/faults.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

// What somebody sees of a machine who does not take part in it.
struct MachineView {
  std::string profile_text, profile_name;
  std::uint64_t seed = 0;
  bool confidential_computing = false;
  FabricManager fabric_manager = FabricManager::working;
  std::vector<std::uint64_t> memory_used;  // bytes a GPU of the host, by all clients
};

// Asks the broker that listens at `socket`, without joining: no rank is taken, nobody waits for the
// one who looks. Empty: nobody listens there (yet, or any more), or `socket` is empty. Blocks for
// one answer.
Result<std::optional<MachineView>> look_at_machine(const std::string& socket, int host);

}  // namespace symmcts::platform

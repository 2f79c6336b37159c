#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/platform/model/faults.hpp"
#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/rank_faults.hpp"
#include "harness/support/result.hpp"

namespace symmcts::platform {

// "Rank R waits before its first call of F (on such an object) until rank U has passed a call of P
// (on such an object)". Names are those of the driver API without version suffix.
struct Hold {
  int rank = 0;
  std::string before;
  std::optional<ObjectKind> object;  // absent: any
  int until_rank = 0;
  std::string until_passed;
  std::optional<ObjectKind> until_object;
};

// What shall go otherwise than on a quiet machine: data, read from a file.
struct Scenario {
  std::vector<Hold> holds;
  Faults faults;  // of the machine
  std::vector<RankFault> rank_faults;
};

// Reads a scenario from TOML text. `origin` names it in errors ("file:line:column: what"). A key
// that is missing, unknown or of the wrong type is an error; no text at all is the quiet machine.
//
//   schema = "symm-cts/scenario/1"
//   [faults]                            # faults.hpp; README.md lists the keys
//   multicast_slots = 0
//   [[hold]]
//   rank = 1
//   before = "cuMemImportFromShareableHandle"
//   object = "multicast"                # or "memory"; may be absent
//   until_rank = 0
//   until_passed = "cuMemRelease"
//   until_object = "multicast"          # may be absent
//   [[fail]]                            # rank_faults.hpp; so are [[stall]], [[kill]], [[stop]]
//   rank = 1
//   call = "cuMulticastBindMem"
//   code = 802
Result<Scenario> parse_scenario(std::string_view text, std::string_view origin);

}  // namespace symmcts::platform

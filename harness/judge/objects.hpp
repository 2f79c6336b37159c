#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/evidence/machine.hpp"

namespace symmcts::judge {

enum class Provenance : std::uint8_t { unknown, native, imported };
const char* name(Provenance provenance);

// A handle as the calls of one rank made it. Pointers are into the EvidenceSet.
struct HandleFact {
  Provenance provenance = Provenance::unknown;
  bool multicast = false;
  std::string token;                         // imported by FABRIC: of what
  std::string route;                         // imported: "fd" or "fabric"
  const evidence::Call* made = nullptr;      // the create or the import
  const evidence::Call* released = nullptr;  // the release that dropped its last reference
  std::int64_t references = 1;               // create or import, and retains, less releases
};

struct MappingFact {
  std::int64_t number = evidence::kAbsent;
  std::int64_t handle = evidence::kAbsent;
  Provenance provenance = Provenance::unknown;
  bool multicast = false;
  std::string group;  // of the last `group` mark before the call; empty without one
  const evidence::Call* made = nullptr;
  const evidence::Call* unmapped = nullptr;
  // Unmapped again before the rank came to a `ready` phase: of a try that failed and was undone,
  // so that nobody ever used it. Never where the rank announces no such phase.
  bool undone = false;
};

struct ExportFact {
  std::int64_t handle = evidence::kAbsent;
  std::string route;
  std::string token;
  const evidence::Call* call = nullptr;
};

// Handles and mappings of one rank, from its successful calls. All empty where the source does not
// show calls.
struct RankObjects {
  std::map<std::int64_t, HandleFact> handles;
  std::vector<MappingFact> mappings;  // in call order
  std::vector<ExportFact> exports;
  bool creator = false;                           // made a multicast object
  std::map<std::int64_t, std::size_t> by_number;  // mapping number to its place in `mappings`

  const MappingFact* mapping(std::int64_t number) const;
};

// Replays the calls of every rank; one entry a rank, in the order of set.ranks. A handle is a
// multicast one when it came from cuMulticastCreate, from the token of such a handle on any rank,
// or was given to a cuMulticast call. `set` must outlive the result.
std::vector<RankObjects> read_objects(const evidence::EvidenceSet& set);

// The ranks of the group that `mark_name` names on any rank; all ranks of the set for "".
std::vector<int> group_ranks(const evidence::EvidenceSet& set, const std::string& group);

}  // namespace symmcts::judge

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/judge/context.hpp"

namespace symmcts::judge {

// Operations that are one logical operation on every rank: same label, size, side and, where the
// sources show it, target. The n-th of a rank corresponds to the n-th of another.
struct ParityKey {
  std::string label;
  std::int64_t bytes = 0;
  bool host = false;       // a transfer from or to the host, else between devices
  bool multicast = false;  // the target is known to be a multicast mapping
  bool operator<(const ParityKey& other) const {
    return std::tie(label, bytes, host, multicast) <
           std::tie(other.label, other.bytes, other.host, other.multicast);
  }
};

// How the ranks' sequences of copy kinds under one key compare.
struct ParityGroup {
  enum class Result : std::uint8_t {
    same,      // equal kinds for every occurrence, or for each kind of target where it is known
    permuted,  // another order only, or kinds of which some ranks have more; targets unknown
    differ,    // different kinds, whichever operations correspond
  };
  ParityKey key;
  Result result = Result::same;
  std::map<int, std::vector<evidence::CopyKind>> kinds;  // by rank, in order of the API calls
  std::int64_t compared = 0;                             // occurrences that several ranks have
  std::int64_t unmatched = 0;  // operations that some rank of the evidence has no counterpart of
  std::int64_t differing = 0;  // occurrences with more than one kind
  std::vector<int> odd;        // `differ`: ranks unlike the rest
};

// Groups the measured copies of all ranks. Signals are their own world: `signals` picks them or the
// rest. Copies of unknown size are left out.
std::vector<ParityGroup> compare_kinds(const Context& context, bool signals);

}  // namespace symmcts::judge

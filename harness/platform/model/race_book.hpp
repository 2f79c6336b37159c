#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/platform/model/race_shadow.hpp"

namespace symmcts::platform {

// One of the two calls of a race.
struct RaceParty {
  int rank = 0;
  std::uint32_t stream = 0;
  std::string call;
  std::uint32_t correlation = 0;  // of the first occurrence
  bool writes = false;
  Ns at = 0;  // virtual end of the first occurrence
};

// Two calls whose accesses to the same bytes nothing orders, and how often that was seen.
struct Race {
  // Unordered even if a completion that any host has seen counts as an edge to everything that any
  // rank submits later. Otherwise it is ordered by that alone: the ranks may have told each other.
  bool certain = false;
  RaceParty first, second;  // by rank, stream and call
  int owner = 0;            // rank that created the memory
  bool host_memory = false;
  // The bytes of the first occurrence; `offset` in the allocation, 0 for host memory, whose
  // addresses differ from run to run.
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t count = 1;
};

std::string race_text(const Race& race);

// The races that were found, each pair of calls once. Not thread safe.
class RaceBook {
 public:
  void add(Race race);
  // Those that have not been taken yet, in an order that depends on nothing but them.
  std::vector<Race> take_new();
  bool empty() const { return races_.empty(); }

 private:
  using Key = std::tuple<int, std::uint32_t, std::string, bool, int, std::uint32_t, std::string,
                         bool, bool>;
  struct Entry {
    Race race;
    bool taken = false;
  };
  std::map<Key, Entry> races_;
};

}  // namespace symmcts::platform

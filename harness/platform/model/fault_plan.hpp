#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/platform/model/rank_faults.hpp"

namespace symmcts::platform {

// The faults of one rank at work in its process: counts calls and phases, and says what is due. A
// call is counted where it begins. Thread safe; where threads race for the same function, which of
// them makes call N is theirs to decide.
class FaultPlan {
 public:
  FaultPlan() = default;
  // Takes of `faults` those that are for `rank`.
  FaultPlan(const std::vector<RankFault>& faults, int rank);

  bool any() const { return !faults_.empty(); }

  // What befalls a call, in the order of the scenario; its number among the calls of the function
  // is the same for all of them. The faults live as long as the plan.
  struct Due {
    std::uint64_t number = 0;
    std::vector<const RankFault*> faults;
  };
  Due call(std::string_view function);
  // The rank begins a phase.
  Due phase(std::string_view name);

 private:
  Due count(std::map<std::string, std::uint64_t, std::less<>>& counts, std::string_view name,
            bool phase);

  std::vector<RankFault> faults_;
  std::mutex mutex_;  // what follows
  std::map<std::string, std::uint64_t, std::less<>> calls_, phases_;
};

}  // namespace symmcts::platform

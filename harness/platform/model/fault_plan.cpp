#include "harness/platform/model/fault_plan.hpp"

#include <algorithm>
#include <iterator>

namespace symmcts::platform {

FaultPlan::FaultPlan(const std::vector<RankFault>& faults, int rank) {
  std::copy_if(faults.begin(), faults.end(), std::back_inserter(faults_),
               [rank](const RankFault& fault) { return fault.rank == rank; });
  // Only what a fault is for is ever counted.
  for (const RankFault& fault : faults_) {
    (fault.when == RankFault::When::phase ? phases_ : calls_).emplace(fault.at, 0);
  }
}

FaultPlan::Due FaultPlan::count(std::map<std::string, std::uint64_t, std::less<>>& counts,
                                std::string_view name, bool phase) {
  Due due;
  const auto counted = counts.find(name);
  if (counted == counts.end()) return due;
  {
    const std::lock_guard lock(mutex_);
    due.number = ++counted->second;
  }
  for (const RankFault& fault : faults_) {
    if (phase == (fault.when == RankFault::When::phase) && fault.at == name &&
        fault.is_for(due.number)) {
      due.faults.push_back(&fault);
    }
  }
  return due;
}

FaultPlan::Due FaultPlan::call(std::string_view function) { return count(calls_, function, false); }

FaultPlan::Due FaultPlan::phase(std::string_view name) { return count(phases_, name, true); }

}  // namespace symmcts::platform

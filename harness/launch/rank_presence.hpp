#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/launch/processes.hpp"
#include "harness/launch/request.hpp"
#include "harness/launch/run_directory.hpp"

namespace symmcts::launch {

// Notices ranks that died without their launcher noticing. mpirun (Open MPI 4.1.4) was seen to wait
// for ever when a rank was killed just after its exec, before it had reached MPI_Init. A launcher's
// children are told apart by the evidence file in their environment.
class RankPresence {
 public:
  RankPresence(const UnitRequest& request, const RunDirectory& directory);

  // Looks at the children of `launcher`, at most some times a second. Returns a rank that was there
  // and is gone, or that has not come though another one came long ago, and that has not left
  // whole evidence; nothing again if it comes after all.
  std::optional<int> look(pid_t launcher, Clock::time_point now);

 private:
  struct Rank {
    int rank = 0;
    std::string file;  // of its evidence
    bool seen = false;
  };
  const std::string& unit_;
  std::vector<Rank> ranks_;
  std::optional<Clock::time_point> first_;  // when the first rank was seen
  Clock::time_point next_look_{};
  std::optional<int> missing_;  // the last answer
};

}  // namespace symmcts::launch

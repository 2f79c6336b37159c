#include "harness/launch/rank_presence.hpp"

#include <set>
#include <sstream>
#include <string>

#include "harness/launch/environment.hpp"
#include "harness/launch/proc_file.hpp"
#include "harness/launch/rank_state.hpp"

namespace symmcts::launch {
namespace {

constexpr std::chrono::milliseconds kInterval{100};
// How long after the first rank another may come: ranks start together, but on two cores.
constexpr std::chrono::milliseconds kLate{2500};
constexpr std::chrono::milliseconds kLatePerRank{50};

// The evidence file that the environment of a process names, or nothing.
std::string evidence_of(pid_t pid) {
  std::istringstream in(read_proc("/proc/" + std::to_string(pid) + "/environ"));
  const std::string prefix = "SYMMCTS_EVIDENCE=";
  for (std::string variable; std::getline(in, variable, '\0');) {
    if (variable.rfind(prefix, 0) == 0) return variable.substr(prefix.size());
  }
  return {};
}

}  // namespace

RankPresence::RankPresence(const UnitRequest& request, const RunDirectory& directory)
    : unit_(request.unit) {
  for (const Seat& seat : request.seats) {
    ranks_.push_back({seat.rank, raw_evidence(directory, seat.rank).string()});
  }
}

std::optional<int> RankPresence::look(pid_t launcher, Clock::time_point now) {
  if (now < next_look_) return missing_;
  next_look_ = now + kInterval;
  std::set<std::string> present;
  for (const Process& process : living_descendants(launcher)) {
    if (process.parent == launcher) present.insert(evidence_of(process.pid));
  }
  for (Rank& rank : ranks_) {
    if (present.count(rank.file) == 0) continue;
    rank.seen = true;
    if (!first_) first_ = now;
  }
  missing_.reset();
  const auto late = kLate + kLatePerRank * ranks_.size();
  for (const Rank& rank : ranks_) {
    if (present.count(rank.file) != 0) continue;
    if (!rank.seen && (!first_ || now < *first_ + late)) continue;
    if (read_rank_state(rank.file, rank.rank, unit_).finished()) continue;
    missing_ = rank.rank;
    break;
  }
  return missing_;
}

}  // namespace symmcts::launch

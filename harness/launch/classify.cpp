#include "harness/launch/classify.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "harness/launch/blame.hpp"
#include "harness/launch/last_words.hpp"

namespace symmcts::launch {
namespace {

const Program* find(const UnitResult& result, const char* name) {
  const auto at = std::find_if(result.programs.begin(), result.programs.end(),
                               [name](const Program& program) { return program.name == name; });
  return at == result.programs.end() ? nullptr : &*at;
}

bool implementation_ran(const UnitResult& result, int rank) {
  return std::any_of(result.ranks.begin(), result.ranks.end(), [rank](const RankState& state) {
    return (rank < 0 || state.rank == rank) && state.implementation_ran();
  });
}

void set_crash(std::string text, std::vector<int> blamed, UnitResult& result) {
  result.end = End::crash;
  result.text = std::move(text);
  result.blamed = std::move(blamed);
}

// Whether the rank itself says that it is another one that is gone; also of no rank.
bool is_follower(const std::vector<Fault>& faults, int rank) {
  return rank < 0 || std::any_of(faults.begin(), faults.end(), [rank](const Fault& fault) {
           return fault.rank == rank && fault.whose == Fault::Whose::other_rank;
         });
}

// The first rank that its implementation ended is blamed. What ended the others after it is told,
// for many an implementation ends its rank when it loses another; those that just could not go on
// are not even that.
bool classify_faults(const std::vector<Fault>& faults, UnitResult& result) {
  std::string crashes;
  std::vector<int> blamed;
  const Fault* refusal = nullptr;
  const Fault* follower = nullptr;
  for (const Fault& fault : faults) {
    // The launcher's child is none of ours; its end goes into the record all the same.
    if (fault.told && fault.rank >= 0) {
      result.programs.push_back({.name = "rank " + std::to_string(fault.rank),
                                 .rank = fault.rank,
                                 .ended = true,
                                 .order = fault.order,
                                 .exit = *fault.told});
    }
    if (fault.whose == Fault::Whose::implementation) {
      if (crashes.empty() && fault.rank >= 0) blamed.push_back(fault.rank);
      crashes += (crashes.empty() ? "" : "; then ") + fault.text;
      result.stop |= fault.killed;
    } else if (fault.whose == Fault::Whose::harness && refusal == nullptr) {
      refusal = &fault;
    } else if (fault.whose == Fault::Whose::other_rank &&
               (follower == nullptr || is_follower(faults, follower->lost))) {
      follower = &fault;
    }
  }
  if (!crashes.empty()) {
    set_crash(std::move(crashes), std::move(blamed), result);
  } else if (refusal != nullptr) {
    result.text = refusal->text;
  } else if (follower != nullptr && !is_follower(faults, follower->lost) &&
             implementation_ran(result, follower->lost)) {
    const std::string lost = "rank " + std::to_string(follower->lost);
    set_crash(lost + " was gone before the end" + in_phase(result, follower->lost),
              {follower->lost}, result);
  } else if (follower != nullptr) {
    result.text = follower->text;
  } else {
    return false;
  }
  return true;
}

// Whether all that is left to explain are ranks that could not go on without a victim.
bool lost_to_victims(const std::vector<Fault>& faults, const UnitResult& result) {
  return std::all_of(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.whose == Fault::Whose::other_rank && is_victim(result, fault.lost);
  });
}

// A unit whose scenario took ranks away, and whose others neither hung nor crashed over it.
void set_lost(std::vector<Fault> followers, UnitResult& result) {
  result.end = End::lost;
  result.text.clear();
  for (const Victim& victim : result.victims) {
    result.text += (result.text.empty() ? "by the scenario " : "; ") + victim.text;
  }
  // By rank: which of them was the first to notice differs from run to run.
  std::sort(followers.begin(), followers.end(),
            [](const Fault& a, const Fault& b) { return a.rank < b.rank; });
  for (const Fault& fault : followers) result.text += "; " + fault.text;
}

// A launcher that failed and names nobody.
bool classify_launcher(const RunDirectory& directory, UnitResult& result) {
  const Program* launcher = find(result, kLauncherName);
  if (launcher == nullptr || !launcher->ended || !launcher->exit.known || launcher->exit.clean()) {
    return false;
  }
  const std::string text = with_last_words(
      std::string(kLauncherName) + " " + describe(launcher->exit), *launcher, directory);
  if (launcher->exit.value != kRankRefused && implementation_ran(result, -1)) {
    set_crash(text, {}, result);
  } else {
    result.text = text;
  }
  return true;
}

std::string incomplete(const RankState& state) {
  if (!state.header) return "left no evidence";
  if (!state.problem.empty()) return "left garbage in its evidence: " + state.problem;
  if (!state.footer) return "left evidence without its last line";
  if (!state.verdict) return "ended without the verdict of the case";
  return {};
}

}  // namespace

void classify(const Seen& seen, const RunDirectory& directory, UnitResult& result) {
  result.end = End::error;
  if (seen.reaper_lost) {
    result.text =
        "the reaper was killed, or did not answer; the supervisor ended the unit in its place";
    result.stop = true;
    return;
  }
  if (!seen.problem.empty()) {
    result.text = seen.problem;
    return;
  }
  if (const Program* broker = find(result, kBrokerName); seen.broker_died && broker != nullptr) {
    result.text = with_last_words(
        "the broker " + describe(broker->exit) + " before the ranks ended", *broker, directory);
    result.stop = broker->exit.signaled;
    return;
  }
  if (seen.flood) {
    result.text = seen.flood->name + " " + seen.flood->what;
    if (seen.flood->stands) result.text += in_phase(result, seen.flood->rank);
    if (seen.flood->name == kBrokerName || !implementation_ran(result, seen.flood->rank)) return;
    set_crash(result.text, {}, result);
    if (seen.flood->rank >= 0) result.blamed = {seen.flood->rank};
    return;
  }
  if (!seen.hang.empty()) {
    result.end = End::hang;
    result.text = seen.hang;
    return;
  }
  const Program* launcher = find(result, kLauncherName);
  if (launcher != nullptr && launcher->ended && launcher->exit.known && launcher->exit.signaled) {
    result.text = std::string(kLauncherName) + " " + describe(launcher->exit);
    result.stop = launcher->exit.value == SIGKILL;
    return;
  }
  std::vector<Fault> faults = read_faults(directory, result);
  if (!result.victims.empty() && lost_to_victims(faults, result)) {
    return set_lost(std::move(faults), result);
  }
  if (classify_faults(faults, result)) return;
  if (seen.vanished >= 0) {
    set_crash("rank " + std::to_string(seen.vanished) + " died" + in_phase(result, seen.vanished) +
                  " and mpirun did not notice",
              {seen.vanished}, result);
    result.stop = true;
    return;
  }
  if (classify_launcher(directory, result)) return;
  for (const RankState& state : result.ranks) {
    const std::string what = incomplete(state);
    if (what.empty()) continue;
    result.text = "rank " + std::to_string(state.rank) + " " + what;
    return;
  }
  result.end = End::done;
}

}  // namespace symmcts::launch

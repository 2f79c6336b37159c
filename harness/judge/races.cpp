// SM-DATA-3: no race, and right data whatever the seed. The machine looks for races; the rank
// program looks at the data.
#include <algorithm>
#include <cstddef>
#include <set>

#include "harness/judge/checks.hpp"
#include "harness/judge/rules.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

constexpr char kId[] = "SM-DATA-3";
constexpr std::size_t kShown = 4;

Verdict verdict_from_races(const std::vector<const evidence::Race*>& races) {
  Verdict verdict = unknown_verdict(kId);
  verdict.status = VerdictStatus::fail;
  std::set<int> ranks;
  std::vector<std::string> shown;
  for (const evidence::Race* race : races) {
    for (const evidence::RaceParty& party : race->accesses) ranks.insert(party.rank);
    if (shown.size() < kShown) {
      shown.push_back(race->text.empty() ? "a race of " + count_text(race->bytes, "byte")
                                         : race->text);
    }
  }
  if (races.size() > shown.size()) {
    shown.push_back(std::to_string(races.size() - shown.size()) + " more");
  }
  verdict.ranks.assign(ranks.begin(), ranks.end());
  verdict.reason = join(shown, "; ");
  verdict.seen.emplace_back("races", std::to_string(races.size()));
  return verdict;
}

}  // namespace

Verdict judge_races(const Context& context) {
  const evidence::MachineEvidence& machine = context.set.machine;
  std::vector<const evidence::Race*> races;
  for (const evidence::Race& race : machine.races) {
    if (race.certain || context.options.suspects_fail) races.push_back(&race);
  }
  // Certain ones first: they are shown.
  std::stable_partition(races.begin(), races.end(), [](const auto* race) { return race->certain; });
  if (!races.empty()) return verdict_from_races(races);

  Verdict verdict = unknown_verdict(kId);
  if (machine.race_checks.empty()) {
    verdict.reason = "nobody looked for races";
    return verdict;
  }
  std::int64_t accesses = 0;
  for (const evidence::RaceCheck& check : machine.race_checks) {
    accesses += check.accesses;
    if (check.whole) continue;
    verdict.reason = "the search for races did not see all of what a rank did";
    return verdict;
  }
  if (accesses == 0) {
    verdict.reason = "nothing was copied";
    return verdict;
  }
  verdict.status = VerdictStatus::pass;
  verdict.ranks = context.present_ranks();
  verdict.reason = "no race in " + std::to_string(accesses) + " accesses";
  return verdict;
}

}  // namespace symmcts::judge

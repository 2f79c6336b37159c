#include "tests/fuzz/plan.hpp"

#include "tests/fuzz/draw.hpp"

namespace symmcts::fuzz {

Plan Plan::draw(const Options& options, std::uint64_t seed) {
  Draw draw(Draw::derive(seed, 7));
  Plan plan;
  plan.ranks = options.processes != 0 ? options.processes : static_cast<int>(1 + draw.below(2));
  plan.fabric = draw.once_in(2);
  plan.profile = plan.fabric ? "gb200-nvl2" : "hgx-h200";
  plan.named = plan.ranks > 1 || draw.once_in(2);
  plan.managed = !draw.once_in(4);
  plan.steps = options.steps / 2 + draw.below(options.steps + 1);
  // Two ranks would have to know each other's slots.
  plan.slots = plan.ranks == 1 ? 1 + draw.below(4) : 128;
  if (options.pretends != 0 || !options.transcript.empty()) {
    // The same in every run with one seed is only what is ordered in virtual time.
    plan.managed = true;
    return plan;
  }
  if (!plan.managed) return plan;  // nobody can tell a standstill from a rank that takes its time
  if (plan.ranks == 1) {
    plan.stands_still = draw.once_in(4);
  } else if (!draw.once_in(3)) {
    plan.victim = static_cast<int>(draw.below(2));
    plan.killed_after = draw.below(plan.steps * 3);  // a step makes some three calls
  }
  return plan;
}

std::string Plan::text() const {
  return profile + (named ? ", named" : ", private") + (managed ? ", managed" : ", free running") +
         ", " + std::to_string(ranks) + " rank(s), " + std::to_string(slots) + " slots, " +
         std::to_string(steps) + " steps" + (stands_still ? ", stands still" : "") +
         (victim < 0 ? ""
                     : ", rank " + std::to_string(victim) + " is killed at line " +
                           std::to_string(killed_after));
}

}  // namespace symmcts::fuzz

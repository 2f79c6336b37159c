// SM-DATA-1: a multicast write lands byte for byte on every replica and nowhere else. Only the rank
// program can look at the bytes, so its check marks decide.
#include "harness/judge/checks.hpp"
#include "harness/judge/rules.hpp"

namespace symmcts::judge {

std::vector<Verdict> judge_data(const Context& context) {
  return {verdict_from_checks(context, "SM-DATA-1"), judge_races(context)};
}

}  // namespace symmcts::judge

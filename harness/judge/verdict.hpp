#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace symmcts::judge {

// Design section 5. `unknown`: the evidence cannot tell; `skipped`: a precondition was absent;
// `waived`: a fail under a scoped waiver; `error`: harness or infrastructure.
enum class VerdictStatus : std::uint8_t { pass, fail, unknown, skipped, waived, error };
const char* name(VerdictStatus status);

// The judgement of one requirement.
struct Verdict {
  std::string id;
  VerdictStatus status = VerdictStatus::unknown;
  std::vector<int> ranks;  // whom it concerns: the odd ranks of a fail, all judged ranks of a pass
  std::string reason;      // one line
  std::vector<std::pair<std::string, std::string>> seen;  // in order of relevance
  std::string again;                                      // one command that shows it again
};

// A verdict of `unknown` to start from.
Verdict unknown_verdict(std::string id);

// Something worth telling that no requirement judges, e.g. two uploads that share an engine.
struct Observation {
  int rank = -1;
  std::string text;  // one line, begins with "rank N: "
};

}  // namespace symmcts::judge

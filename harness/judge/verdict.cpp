#include "harness/judge/verdict.hpp"

namespace symmcts::judge {

const char* name(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::pass:
      return "pass";
    case VerdictStatus::fail:
      return "fail";
    case VerdictStatus::unknown:
      return "unknown";
    case VerdictStatus::skipped:
      return "skipped";
    case VerdictStatus::waived:
      return "waived";
    case VerdictStatus::error:
      return "error";
  }
  return "error";
}

Verdict unknown_verdict(std::string id) {
  Verdict verdict;
  verdict.id = std::move(id);
  return verdict;
}

}  // namespace symmcts::judge

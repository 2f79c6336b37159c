#pragma once

#include <string>
#include <vector>

#include "harness/judge/context.hpp"

namespace symmcts::judge {

// What the rank programs themselves said about one id: their `check` and `skip` marks.
struct Checks {
  int passed = 0;
  std::vector<int> passed_on;  // ranks, sorted, unique
  std::vector<int> failed_on;
  std::vector<std::string> failures;  // "rank 1: replica 0 differs at byte 4096"
  std::vector<std::string> skips;     // reasons, unique
};

Checks read_checks(const Context& context, const std::string& id);

// All ids that any check or skip mark names, sorted, unique.
std::vector<std::string> checked_ids(const evidence::EvidenceSet& set);

// A verdict from checks alone: fail where one failed, pass where every rank that has evidence and
// no rank is missing checked it, else unknown.
Verdict verdict_from_checks(const Context& context, const std::string& id);

}  // namespace symmcts::judge

#pragma once

#include <string>

#include "harness/judge/judge.hpp"

namespace symmcts::report {

// One verb's result, ready to be printed.
struct Report {
  std::string verb;
  int exit = 0;
  judge::Judgement judgement;
};

// `repro`: the two halves of one public bug.
struct ReproReport {
  std::string id;
  std::string title;   // one line, text output only
  std::string source;  // address of the public report, text output only
  int exit = 0;
  Report before;
  Report after;
};

// JSON of design section 6, `symm-cts/result/1`: one object, pretty-printed, key order fixed, a
// newline at the end.
std::string to_json(const Report& report);
std::string to_json(const ReproReport& report);

struct TextOptions {
  bool colour = false;
  bool verbose = false;  // also what was seen for verdicts that pass
};

// For people: findings first, then what else was seen, then the tables. Ends with a newline.
std::string to_text(const Report& report, const TextOptions& options = {});
std::string to_text(const ReproReport& report, const TextOptions& options = {});

// Ids of the failed requirements, sorted.
std::vector<std::string> failed_ids(const judge::Judgement& judgement);

}  // namespace symmcts::report

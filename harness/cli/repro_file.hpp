#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// What a report says of one half, before or after the fix. Absent: it says nothing.
struct Published {
  std::string implementation;
  std::vector<std::string> failed;  // exactly these ids fail, sorted
  // Ranks that a failure names, by id; "" stands for every id that has no entry of its own.
  std::map<std::string, std::vector<int>> named;
  std::optional<std::vector<std::map<std::string, std::int64_t>>> copies;  // a rank
  std::optional<bool> hang;
};

// The report for one placement of the ranks.
struct ReproVariant {
  int root_ordinal = 0;
  bool one_visible_gpu = false;
  Published before, after;
};

// A public bug report as data (fixtures/repros/README.md).
struct Repro {
  std::string id, title, source, platform, unit, scenario;
  int ranks = 0;
  std::vector<std::string> rank_args;  // further arguments of the rank program
  std::vector<std::string> requirements;
  std::vector<ReproVariant> variants;  // the first: as the report has it

  const ReproVariant* find(int root_ordinal, bool one_visible_gpu) const;
};

// `origin` names the text in errors ("file:line:column: what").
Result<Repro> parse_repro(std::string_view text, const std::string& origin);

}  // namespace symmcts::cli

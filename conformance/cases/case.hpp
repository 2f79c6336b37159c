#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/bench.hpp"

namespace symmcts::cases {

// One conformance case. Its body runs on every rank at once.
struct Case {
  std::string_view area;
  std::string_view name;
  std::vector<std::string> ids;  // the requirements that it exercises
  int min_ranks = 1;
  bool multicast = false;  // needs multicast on every rank
  void (*body)(Bench&) = nullptr;

  std::string unit() const { return std::string(area) + "." + std::string(name); }
};

// One file an area.
std::span<const Case> provenance_cases();
std::span<const Case> copy_kind_cases();
std::span<const Case> overlap_cases();
std::span<const Case> lifetime_cases();
std::span<const Case> data_cases();
std::span<const Case> group_cases();

// All of them, in that order.
const std::vector<Case>& all_cases();
const Case* find_case(std::string_view unit);

// Gives the case to GoogleTest, under "Area.Case". The bench outlives the run.
void register_case(const Case& which, Bench& bench);

}  // namespace symmcts::cases

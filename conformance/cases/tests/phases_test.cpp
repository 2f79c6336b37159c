#include "harness/support/phases.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "symm_mem/result.hpp"

namespace symmcts::cases {
namespace {

// The steps of the rank program, as its sources name them.
std::set<std::string> phases_of_the_rank_program() {
  std::set<std::string> found;
  const std::regex told("phase\\(\"([^\"]*)\"\\)");
  for (const auto& entry : std::filesystem::directory_iterator(CASES_FOLDER)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    for (std::sregex_iterator at(text.begin(), text.end(), told), end; at != end; ++at) {
      found.insert((*at)[1]);
    }
  }
  return found;
}

// A scenario can name every phase that there is, and no other.
TEST(Phases, AreThoseOfTheRankProgramAndOfTheReference) {
  std::set<std::string> there = phases_of_the_rank_program();
  EXPECT_EQ(there.count("make-block"), 1u);
  const auto last = static_cast<int>(symm_mem::Phase::teardown);
  for (int phase = 0; phase <= last; ++phase) {
    there.emplace(symm_mem::phase_name(static_cast<symm_mem::Phase>(phase)));
  }
  EXPECT_EQ(symm_mem::phase_name(static_cast<symm_mem::Phase>(last + 1)), "unknown")
      << "a phase after the last one";
  EXPECT_EQ(there, std::set<std::string>(std::begin(kPhases), std::end(kPhases)));
}

}  // namespace
}  // namespace symmcts::cases

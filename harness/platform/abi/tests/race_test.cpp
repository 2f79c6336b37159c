// The search for races on whole programs: nothing missed, no false alarm, and the same answer for
// the same seed.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "harness/platform/abi/tests/race_world.hpp"

namespace symmcts::platform::abi::test {
namespace {

std::string name_of(std::string text) {
  std::string out;
  bool up = true;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      up = true;
    } else {
      out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      up = false;
    }
  }
  return out;
}

class Programs : public ::testing::TestWithParam<std::tuple<RaceProgram, int>> {
 protected:
  const RaceProgram& program() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};

std::string named(const ::testing::TestParamInfo<std::tuple<RaceProgram, int>>& info) {
  return name_of(std::get<0>(info.param).name) + "On" + std::to_string(std::get<1>(info.param));
}

auto all_of(const std::vector<RaceProgram>& programs) {
  return ::testing::Combine(::testing::ValuesIn(programs), ::testing::Values(2, 8));
}

std::string text_of(const FoundRaces& found) {
  std::string text;
  for (const std::string& each : found.texts) text += each + "\n";
  return text;
}

class Racing : public Programs {};
TEST_P(Racing, IsNamed) {
  const FoundRaces found = run_program(program(), size(), Messages::seen);
  EXPECT_TRUE(found.checked && found.whole);
  EXPECT_GT(found.certain + found.suspect, 0);
}
INSTANTIATE_TEST_SUITE_P(All, Racing, all_of(racing_programs()), named);

class Ordered : public Programs {};
TEST_P(Ordered, IsNotNamed) {
  const FoundRaces found = run_program(program(), size(), Messages::seen);
  EXPECT_TRUE(found.checked && found.whole);
  EXPECT_EQ(found.certain + found.suspect, 0) << text_of(found);
}
INSTANTIATE_TEST_SUITE_P(All, Ordered, all_of(ordered_programs()), named);

// Whoever does not tell the platform of its messages is never told that it certainly races.
class Unseen : public Programs {};
TEST_P(Unseen, IsNeverCertain) {
  const FoundRaces found = run_program(program(), size(), Messages::unseen);
  EXPECT_TRUE(found.checked && found.whole);
  EXPECT_EQ(found.certain, 0) << text_of(found);
}
INSTANTIATE_TEST_SUITE_P(All, Unseen, all_of(unseen_programs()), named);
INSTANTIATE_TEST_SUITE_P(Ordered, Unseen, all_of(ordered_programs()), named);

TEST(RaceReport, NamesBothCallsStreamsRanksAndBytes) {
  const RaceProgram program{"one byte", [](RaceWorld& w) {
                              w.share();
                              if (w.rank == 0) w.copy(w.block(1) + 7, w.source, w.a, 100);
                              if (w.rank == 1) w.fill(w.block(1) + 106, w.b, 50);
                            }};
  const FoundRaces found = run_program(program, 2, Messages::seen);
  ASSERT_EQ(found.texts.size(), 1u) << text_of(found);
  EXPECT_NE(found.texts[0].find("race: rank 0 cuMemcpyAsync (stream "), std::string::npos);
  EXPECT_NE(found.texts[0].find("rank 1 cuMemsetD8Async (stream "), std::string::npos);
  EXPECT_NE(found.texts[0].find("writes 1 bytes of memory of rank 1 at offset 106"),
            std::string::npos)
      << found.texts[0];
}

TEST(RaceReport, IsTheSameForTheSameSeed) {
  const RaceProgram& program = racing_programs()[12];
  const FoundRaces first = run_program(program, 4, Messages::seen, 7);
  EXPECT_GT(first.certain, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run_program(program, 4, Messages::seen, 7).lines, first.lines);
  }
}

}  // namespace
}  // namespace symmcts::platform::abi::test

#include "harness/platform/model/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/platform/model/hold_gates.hpp"

namespace symmcts::platform {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kLateImport[] = R"(schema = "symm-cts/scenario/1"
[[hold]]
rank = 1
before = "cuMemImportFromShareableHandle"
object = "multicast"
until_rank = 0
until_passed = "cuMemRelease"
until_object = "multicast"
)";

std::string error_of(std::string_view text) {
  const auto scenario = parse_scenario(text, "s.toml");
  EXPECT_FALSE(scenario);
  return scenario ? std::string() : scenario.error();
}

TEST(Scenario, ReadsHoldsAndFaults) {
  const auto scenario =
      parse_scenario(std::string(kLateImport) + "[faults]\nmulticast_slots = 3\n", "s.toml");
  ASSERT_TRUE(scenario) << scenario.error();
  ASSERT_EQ(scenario.value().holds.size(), 1u);
  const Hold& hold = scenario.value().holds[0];
  EXPECT_EQ(hold.rank, 1);
  EXPECT_EQ(hold.before, "cuMemImportFromShareableHandle");
  EXPECT_EQ(hold.object, ObjectKind::multicast);
  EXPECT_EQ(hold.until_rank, 0);
  EXPECT_EQ(hold.until_passed, "cuMemRelease");
  EXPECT_EQ(hold.until_object, ObjectKind::multicast);
  EXPECT_EQ(scenario.value().faults.multicast_slots, 3u);
}

TEST(Scenario, NothingIsTheQuietMachine) {
  const auto scenario = parse_scenario("", "s.toml");
  ASSERT_TRUE(scenario);
  EXPECT_TRUE(scenario.value().holds.empty());
  EXPECT_FALSE(scenario.value().faults.multicast_slots);
}

// A hold before a call that nobody can make would never take place, and nobody would notice.
TEST(Scenario, FunctionsAreThoseOfTheDriver) {
  for (const char* wrong : {"cuMemImport", "cuMemImportFromShareableHandle_v2", "main"}) {
    for (const char* right : {"\"cuMemImportFromShareableHandle\"", "\"cuMemRelease\""}) {
      std::string text = kLateImport;
      text.replace(text.find(right), std::string(right).size(), "\"" + std::string(wrong) + "\"");
      EXPECT_THAT(error_of(text),
                  HasSubstr("is '" + std::string(wrong) + "', which is no function of the driver"));
    }
  }
}

TEST(Scenario, ErrorsNameFileLineAndColumn) {
  EXPECT_THAT(error_of("[[hold]\n"), StartsWith("s.toml:1:"));
  EXPECT_THAT(error_of("\n\nhlod = 1\n"), StartsWith("s.toml:3:8: unknown key 'hlod'"));
  EXPECT_THAT(error_of("[faults]\nslots = 1\n"), StartsWith("s.toml:2:9: unknown key 'slots'"));
  EXPECT_THAT(error_of("[faults]\nmulticast_slots = -1\n"), StartsWith("s.toml:2:19: "));
  EXPECT_THAT(error_of("[[hold]]\nrank = 1\n"), HasSubstr("lacks the key 'before'"));
  EXPECT_THAT(error_of("[[hold]]\nrank = \"1\"\n"), StartsWith("s.toml:2:8: 'rank' must be"));
  EXPECT_THAT(error_of("[hold]\nrank = 1\n"), HasSubstr("[[hold]]"));
  EXPECT_THAT(error_of("schema = \"other\"\n"), HasSubstr("symm-cts/scenario/1"));
  EXPECT_THAT(
      error_of("[[hold]]\nrank = 1\nbefore = \"cuMemMap\"\nobject = \"page\"\nuntil_rank = 0\n"
               "until_passed = \"cuMemRelease\"\n"),
      StartsWith("s.toml:4:10: 'object' must be"));
  EXPECT_THAT(error_of("[[hold]]\nrank = 1\nbefore = \"cuMemMap\"\nuntil_rank = 1\n"
                       "until_passed = \"cuMemRelease\"\n"),
              HasSubstr("itself"));
}

class HoldGatesTest : public ::testing::Test {
 protected:
  HoldGates gates_{parse_scenario(kLateImport, "s.toml").value().holds};
  std::optional<Ns> import(int rank, std::optional<ObjectKind> object, Ns now) {
    return gates_.before(rank, "cuMemImportFromShareableHandle", object, now);
  }
};

TEST_F(HoldGatesTest, OnlyTheNamedCallOfTheNamedRankWaits) {
  EXPECT_EQ(import(0, ObjectKind::multicast, 5), 5u);
  EXPECT_EQ(import(1, ObjectKind::memory, 5), 5u);
  EXPECT_EQ(import(1, std::nullopt, 5), 5u);
  EXPECT_EQ(gates_.before(1, "cuMemRelease", ObjectKind::multicast, 5), 5u);
  EXPECT_FALSE(gates_.keeps_somebody());
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  EXPECT_TRUE(gates_.keeps_somebody());
}

TEST_F(HoldGatesTest, ItOpensWhenTheOtherHasPassedNotBefore) {
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  gates_.passed(0, "cuMemRelease", ObjectKind::memory, 50);
  gates_.passed(1, "cuMemRelease", ObjectKind::multicast, 50);
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  gates_.passed(0, "cuMemRelease", ObjectKind::multicast, 70);
  EXPECT_EQ(import(1, ObjectKind::multicast, 5), 70u);
  EXPECT_EQ(import(1, ObjectKind::multicast, 80), 80u);
}

TEST_F(HoldGatesTest, PassingFirstOpensItForLater) {
  gates_.passed(0, "cuMemRelease", ObjectKind::multicast, 70);
  EXPECT_EQ(import(1, ObjectKind::multicast, 5), 70u) << "the same time as if it had waited";
  EXPECT_EQ(import(1, ObjectKind::multicast, 6), 6u) << "it applies once";
}

TEST_F(HoldGatesTest, ItOpensWhenNobodyElseCanMove) {
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  gates_.open_first();
  EXPECT_FALSE(gates_.keeps_somebody());
  EXPECT_EQ(import(1, ObjectKind::multicast, 5), 5u);
}

TEST_F(HoldGatesTest, ItOpensWhenTheOtherIsGone) {
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  gates_.rank_gone(0);
  EXPECT_EQ(import(1, ObjectKind::multicast, 5), 5u);
}

TEST_F(HoldGatesTest, TheDeadAreKeptByNothing) {
  EXPECT_FALSE(import(1, ObjectKind::multicast, 5));
  gates_.rank_gone(1);
  EXPECT_FALSE(gates_.keeps_somebody());
}

}  // namespace
}  // namespace symmcts::platform

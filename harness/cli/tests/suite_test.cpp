#include "harness/cli/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/cli/again.hpp"
#include "harness/cli/common.hpp"
#include "harness/cli/compare.hpp"
#include "harness/cli/output.hpp"
#include "harness/cli/seeds.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/launch/tests/scratch.hpp"

namespace symmcts::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<launch::UnitName>& units) {
  std::vector<std::string> out;
  for (const auto& unit : units) out.push_back(unit.unit);
  return out;
}

TEST(SelectUnits, GlobsOverNamesAndRequirements) {
  const std::vector<launch::UnitName> units{{"Data.Lands", {"SM-DATA-1"}},
                                            {"Overlap.Up", {"SM-OVLP-1", "SM-DATA-1"}}};
  EXPECT_THAT(names(select_units(units, "")), ElementsAre("Data.Lands", "Overlap.Up"));
  EXPECT_THAT(names(select_units(units, "Overlap.*")), ElementsAre("Overlap.Up"));
  EXPECT_THAT(names(select_units(units, "SM-DATA-1")), ElementsAre("Data.Lands", "Overlap.Up"));
  EXPECT_THAT(names(select_units(units, "Data")), IsEmpty());
  EXPECT_THAT(ids_of(units), ElementsAre("SM-DATA-1", "SM-OVLP-1"));
}

TEST(PrepareOutput, EmptiesOnlyWhatIsOurs) {
  const launch::testing::Scratch scratch;
  const fs::path ours = scratch.path() / "ours";
  ASSERT_TRUE(prepare_output(ours));
  std::ofstream(ours / "result.json") << "{}";
  ASSERT_TRUE(prepare_output(ours));
  EXPECT_FALSE(fs::exists(ours / "result.json"));

  const fs::path other = scratch.path() / "other";
  fs::create_directory(other);
  std::ofstream(other / "thesis.tex") << "x";
  const auto refused = prepare_output(other);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr(other.string()));
  EXPECT_TRUE(fs::exists(other / "thesis.tex"));
}

TEST(PrepareOutput, IsForOneRunAtATime) {
  const launch::testing::Scratch scratch;
  const fs::path out = scratch.path() / "out";
  {
    const auto first = prepare_output(out);
    ASSERT_TRUE(first) << first.error();
    std::ofstream(out / "result.json") << "{}";
    const auto second = prepare_output(out);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error(), out.string() + ": in use by another run");
    EXPECT_TRUE(fs::exists(out / "result.json"));
  }
  EXPECT_TRUE(prepare_output(out));
}

TEST(PrepareOutput, NeedsAName) {
  const auto refused = prepare_output("");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("--out"));
}

TEST(PrintResult, SaysThatTheFileIsNotWhole) {
  const launch::testing::Scratch scratch;
  report::Report result;
  result.verb = "run";
  EXPECT_EQ(print_result(result, scratch.path(), true), judge::kExitPass);
  fs::remove(scratch.path() / "result.json");
  fs::create_symlink("/dev/full", scratch.path() / "result.json");
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const int exit = print_result(result, scratch.path(), true);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("\"exit\": 3"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("result.json: could not be"));
  EXPECT_EQ(exit, judge::kExitError);
}

TEST(SelectTrials, LeavesOutWhatUsersAdded) {
  const std::vector<launch::ImplementationName> all{{"reference", "", "", "", ""},
                                                    {"mine", "", "", "", ""},
                                                    {"defect:a", "SM-DATA-1", "x#1", "", ""}};
  std::vector<std::string> selected;
  for (const auto& trial : select_trials(all)) selected.push_back(trial.name);
  EXPECT_THAT(selected, ElementsAre("reference", "defect:a"));
}

TEST(Quoted, SurvivesAShell) {
  EXPECT_EQ(quoted("defect:root-keeps-native"), "defect:root-keeps-native");
  EXPECT_EQ(quoted("a b"), "'a b'");
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("*"), "'*'");
  EXPECT_EQ(quoted("tab\tit's\033\xff"), "$'tab\\x09it\\'s\\x1b\\xff'");
}

TEST(Seeds, AreTwoNumbers) {
  const auto error_of = [](const std::string& text) {
    const auto range = read_seeds(text);
    return range ? "" : range.error();
  };
  ASSERT_TRUE(read_seeds("3..7"));
  EXPECT_EQ(read_seeds("3..7").value().first, 3u);
  EXPECT_EQ(read_seeds("3..7").value().count(), 5u);
  EXPECT_EQ(read_seeds("0..0").value().count(), 1u);
  EXPECT_EQ(error_of("18446744073709551615..18446744073709551615"), "");
  for (const char* text : {"", "7", "..7", "3..", "3...7", "-1..2", "1..2x", " 1..2", "1-2"}) {
    EXPECT_EQ(error_of(text), std::string(text) +
                                  ": must be A..B, two whole numbers from 0 to "
                                  "18446744073709551615");
  }
  EXPECT_EQ(error_of("7..3"), "7..3: the second seed is before the first");
  EXPECT_EQ(error_of("1..1000000"), "1..1000000: more than 100000 seeds");
}

TEST(Again, TellsThatNobodyLooksForRaces) {
  RunOptions options;
  options.race_check = false;
  Machine machine;
  machine.name = "p";
  EXPECT_EQ(again(options, machine, "A.B"),
            "symmcts run --impl reference --platform p --ranks 2 --filter A.B --no-race-check "
            "--seed 1");
}

TEST(Again, TellsEveryOptionThatHasASay) {
  RunOptions options;
  options.implementation = "mine";
  options.ranks = 4;
  options.profile = "my profile.toml";
  options.seed = 18446744073709551615u;
  Placement& placement = options.placement;
  placement.launcher = "mpirun";
  placement.launch_args = {"--mca", "x y"};
  placement.root_ordinal = 1;
  placement.one_visible_gpu = placement.allow_multicast = true;
  placement.stall_seconds = 1.5;
  placement.unit_seconds = 1e6;
  Machine machine;
  machine.name = "it's.toml";
  EXPECT_EQ(again(options, machine, "Area.Case"),
            "symmcts run --impl mine --platform 'it'\\''s.toml' --launcher mpirun "
            "--launch-arg=--mca --launch-arg 'x y' --root-ordinal 1 --one-visible-gpu "
            "--allow-multicast --stall 1.5 --deadline 1e+06 --ranks 4 --profile 'my profile.toml' "
            "--filter Area.Case --seed 18446744073709551615");
  ReproOptions repro;
  repro.id = "pytorch-192530";
  repro.placement.stall_seconds = 60;
  EXPECT_EQ(again(repro, machine),
            "symmcts repro pytorch-192530 --platform 'it'\\''s.toml' --stall 60 --seed 1");
  CheckOptions check;
  check.files = {"a.json", "-b.json"};
  check.ranks = {"-b.json=1"};
  check.required = {"SM-KIND-1"};
  EXPECT_EQ(again(check), "symmcts check --rank=-b.json=1 --require SM-KIND-1 -- a.json -b.json");
}

judge::Verdict verdict(const std::string& id, judge::VerdictStatus status, std::vector<int> ranks) {
  judge::Verdict out = judge::unknown_verdict(id);
  out.status = status;
  out.ranks = std::move(ranks);
  return out;
}

class Differences : public ::testing::Test {
 protected:
  void SetUp() override {
    published_.failed = {"SM-KIND-1"};
    published_.named[""] = {0};
    published_.copies = {{{"DtoD", 5}}, {{"PtoP", 5}}};
    published_.hang = false;
    result_.judgement.verdicts = {verdict("SM-KIND-1", judge::VerdictStatus::fail, {0})};
    judge::RankSummary first, second;
    first.rank = 0;
    first.copies = {{"DtoD", 5}};
    second.rank = 1;
    second.copies = {{"PtoP", 5}};
    result_.judgement.ranks = {first, second};
    result_.units.resize(1);
    result_.units[0].end = launch::End::done;
  }
  std::vector<std::string> look() {
    return differences("before", published_, {"SM-KIND-1"}, result_);
  }
  Published published_;
  SuiteResult result_;
};

TEST_F(Differences, NoneIfAsPublished) { EXPECT_THAT(look(), IsEmpty()); }

TEST_F(Differences, NamesWhatFailsBesides) {
  result_.judgement.verdicts.push_back(verdict("SM-OVLP-1", judge::VerdictStatus::fail, {0}));
  EXPECT_THAT(look(), ElementsAre(HasSubstr("SM-KIND-1, SM-OVLP-1")));
}

TEST_F(Differences, NamesOtherRanks) {
  result_.judgement.verdicts[0].ranks = {1};
  EXPECT_THAT(look(), ElementsAre("before: SM-KIND-1 names ranks 1, published 0"));
}

TEST_F(Differences, NamesOtherCopiesAndARankThatIsMissing) {
  result_.judgement.ranks.pop_back();
  EXPECT_THAT(look(), ElementsAre("before: rank 1 copies nothing, published 5 PtoP"));
}

TEST_F(Differences, NamesAHang) {
  result_.units[0].end = launch::End::hang;
  result_.units[0].text = "nothing moved for 1 s";
  EXPECT_THAT(look(), ElementsAre("before: hangs, which was not published: nothing moved for 1 s"));
}

TEST_F(Differences, AfterTheFixUnknownIsNotEnough) {
  published_.failed = {};
  result_.judgement.verdicts = {verdict("SM-KIND-1", judge::VerdictStatus::unknown, {})};
  EXPECT_THAT(look(), ElementsAre(HasSubstr("SM-KIND-1 is unknown")));
  result_.judgement.verdicts.clear();
  EXPECT_THAT(look(), ElementsAre("before: SM-KIND-1 was not judged"));
}

}  // namespace
}  // namespace symmcts::cli

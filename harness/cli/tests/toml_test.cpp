// Every file that people write is refused with file, line and column of what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/cli/catalogue.hpp"
#include "harness/cli/catalogue_check.hpp"
#include "harness/cli/facts_file.hpp"
#include "harness/cli/locations.hpp"
#include "harness/cli/profile.hpp"
#include "harness/cli/repro_file.hpp"
#include "harness/cli/toml_document.hpp"
#include "harness/judge/judge.hpp"

namespace symmcts::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kRequirement[] = R"(schema = "symm-cts/requirements/1"
[[requirement]]
id = "SM-DATA-1"
level = "MUST"
sentence = "bytes land"
rows = ["1"]
sources = ["pytorch/pytorch#1"]
defect = "one replica missed"
implemented = true
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string catalogue_error(const std::string& from, const std::string& to) {
  const auto parsed = parse_catalogue(replaced(kRequirement, from, to), "r.toml");
  return parsed ? "accepted" : parsed.error();
}

TEST(Catalogue, Reads) {
  const auto parsed = parse_catalogue(kRequirement, "r.toml");
  ASSERT_TRUE(parsed) << parsed.error();
  ASSERT_EQ(parsed.value().size(), 1u);
  EXPECT_EQ(parsed.value()[0].id, "SM-DATA-1");
  EXPECT_TRUE(parsed.value()[0].must);
  EXPECT_THAT(parsed.value()[0].sources, ElementsAre("pytorch/pytorch#1"));
}

TEST(Catalogue, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(catalogue_error("level = \"MUST\"", "level = \"MUST"), StartsWith("r.toml:4:"));
  EXPECT_THAT(catalogue_error("\"MUST\"", "\"MAY\""), StartsWith("r.toml:4:9: `level` must be"));
  EXPECT_THAT(catalogue_error("\"SM-DATA-1\"", "\"DATA-1\""), StartsWith("r.toml:3:6: `id`"));
  EXPECT_THAT(catalogue_error("\"SM-DATA-1\"", "7"), StartsWith("r.toml:3:6: `id` must be a text"));
  EXPECT_THAT(catalogue_error("rows = [\"1\"]", "rows = [1]"),
              StartsWith("r.toml:6:9: `rows` must hold texts only"));
  EXPECT_THAT(catalogue_error("rows = [\"1\"]", "rows = 1"), StartsWith("r.toml:6:8: `rows`"));
  EXPECT_THAT(catalogue_error("implemented = true", "implemented = 1"), StartsWith("r.toml:9:15:"));
  EXPECT_THAT(catalogue_error("implemented", "implementd"),
              HasSubstr("`implemented` is missing in [[requirement]]"));
  EXPECT_THAT(catalogue_error("implemented = true", "implemented = true\nextra = 1"),
              StartsWith("r.toml:10:1: `extra` is not a key of [[requirement]]"));
  EXPECT_THAT(catalogue_error("requirements/1", "requirements/2"), StartsWith("r.toml:1:10:"));
}

TEST(Catalogue, RefusesAnIdThatIsGivenTwice) {
  const std::string text(kRequirement);
  const auto twice = parse_catalogue(text + text.substr(text.find("[[")), "r.toml");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error(), StartsWith("r.toml:11:6: `id` is given twice"));
}

TEST(Catalogue, RefusesAnEmptyFile) {
  EXPECT_FALSE(parse_catalogue("", "r.toml"));
  EXPECT_FALSE(parse_catalogue("schema = \"symm-cts/requirements/1\"", "r.toml"));
}

// The files that the project ships.
class Shipped : public ::testing::Test {
 protected:
  void SetUp() override {
    at_.data = SYMMCTS_SOURCE_DIR;
    auto catalogue = load_catalogue(at_);
    ASSERT_TRUE(catalogue) << catalogue.error();
    catalogue_ = catalogue.value();
  }
  Locations at_;
  std::vector<Requirement> catalogue_;
};

TEST_F(Shipped, CatalogueHoldsEveryAreaAndAllThatTheJudgeKnows) {
  EXPECT_EQ(catalogue_.size(), 66u);
  std::vector<launch::UnitName> units{{"All.Of", {}}};
  for (const Requirement& requirement : catalogue_) {
    if (requirement.implemented) units[0].ids.push_back(requirement.id);
  }
  const Status consistent = check_catalogue(catalogue_, units, judge::judged_ids());
  EXPECT_TRUE(consistent) << consistent.error();
}

TEST_F(Shipped, ProfilesAndReprosAreReadable) {
  ASSERT_FALSE(names_in(at_.profiles()).empty());
  for (const std::string& name : names_in(at_.profiles())) {
    const auto file = at_.profiles() / (name + ".toml");
    const auto profile =
        parse_certification_profile(read_file(file).value(), file.string(), ids_of(catalogue_));
    ASSERT_TRUE(profile) << profile.error();
    EXPECT_EQ(profile.value().name, name);
    for (const auto& [unit, scenario] : profile.value().scenarios) {
      EXPECT_TRUE(find_named(scenario, at_.scenarios(), "scenario")) << unit;
    }
  }
  ASSERT_FALSE(names_in(at_.repros()).empty());
  for (const std::string& name : names_in(at_.repros())) {
    const auto file = at_.repros() / (name + ".toml");
    const auto repro = parse_repro(read_file(file).value(), file.string());
    ASSERT_TRUE(repro) << repro.error();
    EXPECT_EQ(repro.value().id, name);
  }
}

TEST(CatalogueCheck, NamesWhatDoesNotFit) {
  Requirement requirement;
  requirement.id = "SM-DATA-1";
  requirement.implemented = true;
  const std::vector<launch::UnitName> units{{"Data.Lands", {"SM-DATA-1"}}};
  EXPECT_TRUE(check_catalogue({requirement}, units, {"SM-DATA-1"}));
  EXPECT_THAT(check_catalogue({requirement}, {}, {"SM-DATA-1"}).error(), HasSubstr("no case"));
  EXPECT_THAT(check_catalogue({requirement}, units, {}).error(), HasSubstr("no rule"));
  EXPECT_THAT(check_catalogue({requirement}, units, {"SM-DATA-1", "SM-DATA-9"}).error(),
              HasSubstr("SM-DATA-9"));
  requirement.implemented = false;
  EXPECT_THAT(check_catalogue({requirement}, units, {}).error(), HasSubstr("Data.Lands"));
}

TEST(Profile, NamesThePlaceOfWhatIsWrong) {
  const std::string good =
      "schema = \"symm-cts/profile/1\"\nname = \"p\"\nsummary = \"s\"\nmust_run = [\"SM-DATA-1\"]\n"
      "[[scenario]]\nunit = \"A.B\"\nname = \"late\"\n";
  const auto error = [&](const std::string& text) {
    const auto parsed = parse_certification_profile(text, "p.toml", {"SM-DATA-1"});
    return parsed ? std::string("accepted") : parsed.error();
  };
  EXPECT_EQ(error(good), "accepted");
  EXPECT_THAT(error(replaced(good, "SM-DATA-1", "SM-DATA-2")),
              StartsWith("p.toml:4:12: `must_run` names SM-DATA-2"));
  EXPECT_THAT(error(good + "[[scenario]]\nunit = \"A.B\"\nname = \"x\"\n"),
              StartsWith("p.toml:9:8: `unit` has two scenarios"));
  EXPECT_THAT(error(replaced(good, "[[scenario]]", "[scenario]")),
              StartsWith("p.toml:5:1: `scenario` must be an array"));
}

constexpr char kRepro[] = R"(schema = "symm-cts/repro/1"
id = "x-1"
title = "t"
source = "s"
platform = "gb200-nvl2"
ranks = 2
unit = "A.B"
requirements = ["SM-DATA-1", "SM-KIND-1"]
[before]
implementation = "defect:x"
failed = ["SM-KIND-1", "SM-DATA-1"]
named = [0]
copies = [{ DtoD = 5 }, { PtoP = 5 }]
[after]
implementation = "reference"
failed = []
[[variant]]
root_ordinal = 1
[variant.before]
failed = ["SM-DATA-1"]
)";

TEST(Repro, ReadsHalvesAndVariants) {
  const auto repro = parse_repro(kRepro, "x.toml");
  ASSERT_TRUE(repro) << repro.error();
  const ReproVariant* base = repro.value().find(0, false);
  ASSERT_NE(base, nullptr);
  EXPECT_THAT(base->before.failed, ElementsAre("SM-DATA-1", "SM-KIND-1"));
  EXPECT_EQ((*base->before.copies)[1].at("PtoP"), 5);
  EXPECT_FALSE(base->after.copies);
  const ReproVariant* moved = repro.value().find(1, false);
  ASSERT_NE(moved, nullptr);
  EXPECT_THAT(moved->before.failed, ElementsAre("SM-DATA-1"));
  EXPECT_EQ(moved->before.implementation, "defect:x");
  EXPECT_EQ(repro.value().find(0, true), nullptr);
}

TEST(Repro, ReadsGroupsAndManyRanks) {
  std::string text = replaced(kRepro, "ranks = 2", "ranks = 8\ngroups = { domain = 4, size = 2 }");
  text = replaced(text, "named = [0]", "named = [0, 4]\nnamed_by = { SM-DATA-1 = [7] }");
  text = replaced(text, "copies = [{ DtoD = 5 }, { PtoP = 5 }]",
                  "most_copies = { PtoP = 1 }\nodd = [{ ranks = [0, 4], copies = { DtoD = 1 } }]");
  const auto repro = parse_repro(text, "x.toml");
  ASSERT_TRUE(repro) << repro.error();
  EXPECT_THAT(repro.value().rank_args, ElementsAre("--group-domain", "4", "--group-size", "2"));
  const Published& before = repro.value().variants.front().before;
  EXPECT_THAT(before.named.at(""), ElementsAre(0, 4));
  EXPECT_THAT(before.named.at("SM-DATA-1"), ElementsAre(7));
  ASSERT_EQ(before.copies->size(), 8u);
  EXPECT_EQ((*before.copies)[4].at("DtoD"), 1);
  EXPECT_EQ((*before.copies)[5].at("PtoP"), 1);
  const auto error = [&](const std::string& from, const std::string& to) {
    const auto parsed = parse_repro(replaced(text, from, to), "x.toml");
    return parsed ? std::string("accepted") : parsed.error();
  };
  EXPECT_THAT(error("size = 2", "size = 3"), HasSubstr("must divide the domain"));
  EXPECT_THAT(error("ranks = [0, 4]", "ranks = [0, 8]"), HasSubstr("a rank that is not there"));
  EXPECT_THAT(error("SM-DATA-1 = [7]", "SM-LIFE-1 = [7]"), HasSubstr("is not among those"));
}

TEST(Repro, NamesThePlaceOfWhatIsWrong) {
  const auto error = [](const std::string& from, const std::string& to) {
    const auto parsed = parse_repro(replaced(kRepro, from, to), "x.toml");
    return parsed ? std::string("accepted") : parsed.error();
  };
  EXPECT_THAT(error("ranks = 2", "ranks = 0"), StartsWith("x.toml:6:9: `ranks` must be a whole"));
  EXPECT_THAT(error("named = [0]", "named = [2]"), StartsWith("x.toml:12:9: `named`"));
  EXPECT_THAT(error("[{ DtoD = 5 }, { PtoP = 5 }]", "[{ DtoD = 5 }]"),
              StartsWith("x.toml:13:10: `copies` must hold one table a rank"));
  EXPECT_THAT(error("PtoP = 5", "PtoP = \"5\""), StartsWith("x.toml:13:"));
  EXPECT_THAT(error("[\"SM-KIND-1\", \"SM-DATA-1\"]", "[\"SM-LIFE-1\"]"),
              StartsWith("x.toml:11:10: `failed` names SM-LIFE-1"));
  EXPECT_THAT(error("root_ordinal = 1", "root_ordinal = 0"), StartsWith("x.toml:18:16:"));
  EXPECT_THAT(error("root_ordinal = 1", "root_ordinl = 1"), HasSubstr("x.toml:"));
  EXPECT_THAT(error("[after]", "[afterwards]"), HasSubstr("`after` is missing"));
}

TEST(Files, NamesAFileThatIsNotThere) {
  EXPECT_THAT(read_file("/nonexistent/x.toml").error(), HasSubstr("/nonexistent/x.toml"));
  EXPECT_THAT(read_file("/").error(), HasSubstr("/: is a folder"));
  Locations at;
  at.data = SYMMCTS_SOURCE_DIR;
  EXPECT_THAT(find_named("nope", at.platforms(), "platform").error(),
              HasSubstr("no such platform: nope (there are: "));
}

constexpr char kFact[] = R"(schema = "symm-cts/facts/1"
[[fact]]
id = "A1.1"
says = "sizes are whole pages"
mark = "D"
source = "cuda.h"
state = "modelled"
tests = ["a_test:A.B"]
)";

std::string fact_error(const std::string& from, const std::string& to) {
  const auto parsed = parse_facts(replaced(kFact, from, to), "f.toml");
  return parsed ? std::string() : parsed.error();
}

TEST(Facts, StandBesideTheirTestsOrTheirReason) {
  const auto facts = parse_facts(kFact, "f.toml");
  ASSERT_TRUE(facts) << facts.error();
  EXPECT_EQ(facts.value().at(0).standing(), "tested");
  const std::string plain = replaced(kFact, "tests = [\"a_test:A.B\"]", "reason = \"a choice\"");
  EXPECT_EQ(parse_facts(plain, "f.toml").value().at(0).standing(), "modelled");
  const auto absent = parse_facts(replaced(plain, "\"modelled\"", "\"not-modelled\""), "f.toml");
  EXPECT_EQ(absent.value().at(0).standing(), "not modelled");
}

TEST(Facts, AreRefusedByLineAndColumn) {
  EXPECT_THAT(fact_error("tests = [\"a_test:A.B\"]\n", ""), StartsWith("f.toml:7:"));
  EXPECT_THAT(fact_error("\"modelled\"", "\"not-modelled\""), HasSubstr("tests"));
  EXPECT_THAT(fact_error("\"D\"", "\"X\""), StartsWith("f.toml:5:"));
  EXPECT_THAT(fact_error("facts/1", "facts/2"), HasSubstr("symm-cts/facts/1"));
  EXPECT_THAT(fact_error("source = \"cuda.h\"\n", ""), HasSubstr("source"));
}

}  // namespace
}  // namespace symmcts::cli

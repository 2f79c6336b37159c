#include "harness/report/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace symmcts::report {
namespace {

using nlohmann::ordered_json;

judge::Verdict verdict(const std::string& id, judge::VerdictStatus status) {
  judge::Verdict out = judge::unknown_verdict(id);
  out.status = status;
  out.ranks = {0};
  out.reason = "reason of " + id;
  out.seen = {{"rank 0", "5 DtoD"}, {"rank 1", "5 PtoP"}};
  out.again = "symmcts repro pytorch-192530";
  return out;
}

Report sample() {
  Report report;
  report.verb = "check";
  report.exit = 1;
  report.judgement.verdicts = {verdict("SM-KIND-1", judge::VerdictStatus::fail),
                               verdict("SM-PROV-1", judge::VerdictStatus::pass)};
  report.judgement.ranks = {{0, 0, 0, {{"DtoD", 5}}, {{"HtoD", 5}}, {}},
                            {1, 0, 1, {{"PtoP", 5}}, {{"HtoD", 5}}, {{"PtoP", 9}}}};
  report.judgement.observations = {{0, "rank 0: HtoD of 50 KiB serialized behind HtoD of 256 MiB"}};
  report.judgement.notes = {"no evidence of rank 2 of 3"};
  return report;
}

std::vector<std::string> keys(const ordered_json& object) {
  std::vector<std::string> out;
  for (const auto& [key, value] : object.items()) {
    out.push_back(key);
  }
  return out;
}

// Names and order as design section 6 gives them.
TEST(Json, ShapeOfAResult) {
  const std::string text = to_json(sample());
  EXPECT_EQ(text.back(), '\n');
  const ordered_json json = ordered_json::parse(text);
  EXPECT_EQ(json["schema"], "symm-cts/result/1");
  EXPECT_EQ(json["verb"], "check");
  EXPECT_EQ(json["exit"], 1);
  const std::vector<std::string> top = keys(json);
  EXPECT_EQ(std::vector<std::string>(top.begin(), top.begin() + 5),
            (std::vector<std::string>{"schema", "verb", "exit", "requirements", "ranks"}));
  EXPECT_EQ(keys(json["requirements"][0]),
            (std::vector<std::string>{"id", "status", "ranks", "reason", "seen", "again"}));
  EXPECT_EQ(json["requirements"][0]["status"], "fail");
  EXPECT_EQ(json["requirements"][0]["ranks"], ordered_json::array({0}));
  EXPECT_EQ(json["requirements"][0]["seen"]["rank 1"], "5 PtoP");
  EXPECT_EQ(keys(json["ranks"][0]), (std::vector<std::string>{"rank", "host", "device", "copies",
                                                              "host_copies", "signals"}));
  EXPECT_EQ(json["ranks"][0]["copies"], ordered_json({{"DtoD", 5}}));
  EXPECT_EQ(json["ranks"][0]["signals"], ordered_json::object());
  EXPECT_EQ(json["ranks"][1]["signals"]["PtoP"], 9);
}

TEST(Json, EmptyResultHasEveryKey) {
  const ordered_json json = ordered_json::parse(to_json(Report{}));
  EXPECT_TRUE(json["requirements"].is_array());
  EXPECT_TRUE(json["ranks"].is_array());
}

TEST(Json, ReproHasTwoHalvesWithTheirFailedIds) {
  ReproReport repro;
  repro.id = "pytorch-192530";
  repro.before = sample();
  repro.before.judgement.verdicts.push_back(verdict("SM-DATA-1", judge::VerdictStatus::fail));
  repro.after = sample();
  repro.after.judgement.verdicts.clear();
  const ordered_json json = ordered_json::parse(to_json(repro));
  EXPECT_EQ(keys(json),
            (std::vector<std::string>{"schema", "verb", "id", "exit", "before", "after"}));
  EXPECT_EQ(json["verb"], "repro");
  EXPECT_EQ(json["before"]["failed"], ordered_json::array({"SM-DATA-1", "SM-KIND-1"}));
  EXPECT_EQ(json["after"]["failed"], ordered_json::array());
  EXPECT_EQ(json["before"]["ranks"][0]["copies"]["DtoD"], 5);
}

TEST(Json, KeySeenTwiceIsJoined) {
  Report report = sample();
  report.judgement.verdicts[0].seen.emplace_back("rank 0", "1 HtoD");
  const ordered_json json = ordered_json::parse(to_json(report));
  EXPECT_EQ(json["requirements"][0]["seen"]["rank 0"], "5 DtoD; 1 HtoD");
}

TEST(Json, DamagedTextStaysValidJson) {
  Report report = sample();
  report.judgement.notes.push_back("file \xff\xfe\x01");
  EXPECT_FALSE(ordered_json::parse(to_json(report), nullptr, false).is_discarded());
}

// JSON may hold DEL and U+009B (a terminal's "begin a sequence") raw; nobody who prints it wants
// that.
TEST(Json, IsPlainAsciiWhateverItQuotes) {
  Report report = sample();
  report.judgement.verdicts[0].reason = "said \033[2J\r\x7f \u009b31m caf\u00e9 \xff";
  const std::string text = to_json(report);
  for (const char c : text) {
    EXPECT_TRUE((c >= ' ' && c < '\x7f') || c == '\n') << static_cast<int>(c);
  }
  EXPECT_EQ(ordered_json::parse(text)["requirements"][0]["reason"],
            "said \033[2J\r\x7f \u009b31m caf\u00e9 \ufffd");
}

// What an implementation, a file or a trace says is shown, never obeyed.
TEST(Text, ForeignTextCannotSteerTheTerminal) {
  const std::string foreign = "a\033[2J\rb\nsymmcts run: exit 0 \u009bc";
  Report report = sample();
  judge::Verdict& verdict = report.judgement.verdicts[0];
  verdict.id = verdict.reason = verdict.again = foreign;
  verdict.seen = {{foreign, foreign + " seen"}};
  report.judgement.ranks[0].copies = {{foreign, 1}};
  report.judgement.observations = {{0, foreign}};
  report.judgement.notes = {foreign};
  report.judgement.uncovered = {foreign};
  const std::string plain = to_text(report);
  ReproReport repro;
  repro.id = repro.title = repro.source = foreign;
  repro.before = repro.after = report;
  for (const std::string& text : {plain, to_text(repro)}) {
    EXPECT_EQ(text.find_first_of("\033\r"), std::string::npos) << text;
    EXPECT_EQ(text.find("\u009b"), std::string::npos) << text;
    EXPECT_EQ(text.find("\nsymmcts run: exit 0"), std::string::npos) << text;
    EXPECT_NE(text.find("a\\x1b[2J\\rb\\nsymmcts run"), std::string::npos) << text;
  }
}

TEST(Text, FindingsComeFirst) {
  const std::string text = to_text(sample());
  EXPECT_EQ(text.find("fail    SM-KIND-1"), 0u) << text;
  EXPECT_LT(text.find("again: symmcts repro"), text.find("serialized"));
  EXPECT_LT(text.find("serialized"), text.find("pass    SM-PROV-1"));
  EXPECT_NE(text.find("5 DtoD"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.rfind("symmcts check: exit 1\n"), std::string::npos);
}

TEST(Text, ColourOnlyWhenAsked) {
  EXPECT_NE(to_text(sample(), {.colour = true, .verbose = false}).find("\033[31mfail"),
            std::string::npos);
}

TEST(Text, UncoveredIncidentsAreFindings) {
  Report report = sample();
  report.judgement.verdicts.clear();
  report.judgement.uncovered = {"Data.X: crash: rank 1 was ended by signal 9"};
  EXPECT_EQ(to_text(report).find("error   Data.X: crash"), 0u);
}

TEST(Text, ReproSaysWhetherItIsAsPublished) {
  ReproReport repro;
  repro.id = "pytorch-192530";
  repro.before = sample();
  repro.after = sample();
  repro.after.judgement.verdicts.clear();
  const std::string text = to_text(repro);
  EXPECT_NE(text.find("-- before: SM-KIND-1 fail"), std::string::npos);
  EXPECT_NE(text.find("-- after: nothing fails"), std::string::npos);
  EXPECT_NE(text.find("both halves are as published"), std::string::npos);
  repro.exit = 1;
  EXPECT_NE(to_text(repro).find("not as published"), std::string::npos);
}

}  // namespace
}  // namespace symmcts::report

#include "harness/judge/judge.hpp"

#include "harness/judge/exit_code.hpp"
#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

const char* const kCheck = R"("case":"Data.X","ids":["SM-DATA-1"],"ok":true,"text":"fine")";
const char* const kWrong =
    R"("case":"Data.X","ids":["SM-DATA-1"],"ok":false,"text":"byte 7 of replica 0 is 3")";

std::string unit_line(const std::string& ids, const std::string& end,
                      const std::string& text = "") {
  return R"({"type":"unit","case":"A.B","ids":[)" + ids + R"(],"end":")" + end + "\"" +
         (text.empty() ? "" : R"(,"text":")" + text + "\"") + "}\n";
}

Verdict data(const std::vector<RankText>& ranks) {
  return verdict_of(judge(set_of(ranks)), "SM-DATA-1");
}

TEST(Data, ChecksOnEveryRankDecide) {
  EXPECT_EQ(
      text_of(data({RankText(0).mark("check", 1, kCheck), RankText(1).mark("check", 1, kCheck)})),
      "pass [0,1]: 2 checks passed on ranks 0 and 1");
  EXPECT_EQ(text_of(data({RankText(0).mark("check", 1, kCheck).mark("check", 2, kWrong),
                          RankText(1).mark("check", 1, kCheck)})),
            "fail [0]: rank 0: byte 7 of replica 0 is 3");
  EXPECT_EQ(text_of(data({RankText(0).mark("check", 1, kCheck), RankText(1)})),
            "unknown [1]: not checked on rank 1");
  EXPECT_EQ(data({RankText(0).mark("check", 1, kCheck)}).status, VerdictStatus::unknown);
  EXPECT_EQ(data({RankText(0), RankText(1)}).status, VerdictStatus::unknown);
}

TEST(Judge, HasAVerdictForEachIdOfTheCatalogueItJudges) {
  const Judgement got = judge(set_of({}));
  std::vector<std::string> ids;
  for (const Verdict& verdict : got.verdicts) {
    ids.push_back(verdict.id);
    EXPECT_EQ(verdict.status, VerdictStatus::unknown) << verdict.id;
    EXPECT_FALSE(verdict.reason.empty()) << verdict.id;
  }
  EXPECT_EQ(ids, judged_ids());
}

TEST(Judge, OptionsSelectIdsAndNameTheCommand) {
  const Judgement got =
      judge(set_of({RankText(0)}), {.ids = {"SM-KIND-1", "SM-LAYO-5"}, .again = "symmcts check x"});
  ASSERT_EQ(got.verdicts.size(), 2u);
  EXPECT_EQ(got.verdicts[0].id, "SM-KIND-1");
  EXPECT_EQ(got.verdicts[1].id, "SM-LAYO-5");
  EXPECT_EQ(got.verdicts[1].status, VerdictStatus::unknown);
  EXPECT_EQ(got.verdicts[0].again, "symmcts check x");
}

TEST(Judge, FailedCheckOfTheProgramFailsAnyRequirement) {
  RankText rank(0);
  rank.mark("check", 1,
            R"("case":"C","ids":["SM-LIFE-1","SM-SIG-1"],"ok":false,"text":"pad not zero")");
  const Judgement got = judge(set_of({rank, RankText(1)}));
  EXPECT_EQ(verdict_of(got, "SM-LIFE-1").status, VerdictStatus::fail);
  EXPECT_EQ(verdict_of(got, "SM-SIG-1").status, VerdictStatus::fail);
}

TEST(Judge, SkipExplainsWhyItIsNotKnown) {
  RankText rank(0);
  rank.mark("skip", 1, R"("case":"C","ids":["SM-PROV-1"],"reason":"no multicast permit")");
  EXPECT_EQ(text_of(verdict_of(judge(set_of({rank})), "SM-PROV-1")),
            "skipped []: no multicast permit");
}

std::string race_line(const std::string& kind) {
  return R"({"type":"race","t":9,"class":")" + kind +
         R"(","accesses":[{"rank":0,"stream":13,"call":"cuMemcpyAsync","corr":7,"access":"write"},)"
         R"({"rank":3,"stream":14,"call":"cuMemcpyAsync","corr":9,"access":"read"}],"memory":)"
         R"("device","owner":3,"offset":64,"bytes":16,"count":2,"text":"race: so and so"})"
         "\n";
}
std::string race_check_line(const std::string& accesses, const std::string& whole) {
  return R"({"type":"race-check","accesses":)" + accesses + R"(,"whole":)" + whole + "}\n";
}

TEST(Races, DecideWhetherThereIsOne) {
  const auto verdict = [](const std::string& lines, bool suspects_fail = true) {
    JudgeOptions options;
    options.suspects_fail = suspects_fail;
    return text_of(verdict_of(
        judge(set_of({RankText(0), RankText(1)}, lines + unit_line(R"("SM-DATA-3")", "done")),
              options),
        "SM-DATA-3"));
  };
  const std::string looked = race_check_line("12", "true");
  EXPECT_EQ(verdict(looked), "pass [0,1]: no race in 12 accesses");
  EXPECT_EQ(verdict(race_line("certain") + looked), "fail [0,3]: race: so and so");
  EXPECT_EQ(verdict(race_line("suspect") + looked), "fail [0,3]: race: so and so");
  EXPECT_EQ(verdict(race_line("suspect") + looked, false), "pass [0,1]: no race in 12 accesses");
  EXPECT_EQ(verdict(race_line("certain") + looked, false), "fail [0,3]: race: so and so");
  EXPECT_EQ(verdict(""), "unknown []: nobody looked for races");
  EXPECT_EQ(verdict(race_check_line("0", "true")), "unknown []: nothing was copied");
  EXPECT_EQ(verdict(race_check_line("12", "false")),
            "unknown []: the search for races did not see all of what a rank did");
}

TEST(Races, WrongDataFailsWithoutOne) {
  RankText rank(0);
  rank.mark("check", 1, R"("case":"C","ids":["SM-DATA-3"],"ok":false,"text":"byte 3 is 7")");
  const Judgement got = judge(set_of(
      {rank, RankText(1)}, race_check_line("12", "true") + unit_line(R"("SM-DATA-3")", "done")));
  EXPECT_EQ(text_of(verdict_of(got, "SM-DATA-3")), "fail [0]: rank 0: byte 3 is 7");
}

TEST(Judge, MisuseIsANoteAndNoVerdict) {
  const std::string line =
      R"({"type":"misuse","rank":1,"t":5,"kind":"double-release","what":"physical handle",)"
      R"("call":"cuMemRelease","count":1,"text":"double release of a physical handle"})"
      "\n";
  const Judgement with = judge(set_of({RankText(0), RankText(1)}, line));
  const Judgement without = judge(set_of({RankText(0), RankText(1)}));
  EXPECT_EQ(exit_code(with), exit_code(without));
  EXPECT_NE(std::find(with.notes.begin(), with.notes.end(),
                      "rank 1: double release of a physical handle"),
            with.notes.end());
}

TEST(Judge, FaultsOfTheScenarioAreTold) {
  const Judgement got = judge(
      set_of({RankText(0), RankText(1)},
             R"({"type":"fault","rank":1,"t":null,"entry":"fail[0]","kind":"fail","when":"before",)"
             R"("at":"cuMemMap","number":9,"code":2,"text":"rank 1: x: it never came to that"})"
             "\n"));
  EXPECT_NE(
      std::find(got.notes.begin(), got.notes.end(), "scenario: rank 1: x: it never came to that"),
      got.notes.end());
}

// A rank that the scenario killed is no crash of the implementation, and what the others had to do
// without it no finding; but nothing that rests on it has passed.
TEST(Judge, ARankThatTheScenarioTookIsNoCrash) {
  RankText other(0);
  other.mark("outcome", 5,
             R"("call":"make_block","code":0,"phase":"bind","ok":false,"text":"rank 1 is gone")");
  const Judgement got = judge(
      set_of({other, RankText(1).cut()}, R"({"type":"exit","rank":1,"case":"A.B","signal":9})"
                                         "\n" +
                                             unit_line("\"SM-AGRE-8\",\"SM-DATA-1\"", "lost")));
  EXPECT_TRUE(got.uncovered.empty());
  for (const char* id : {"SM-AGRE-8", "SM-DATA-1"}) {
    EXPECT_EQ(verdict_of(got, id).status, VerdictStatus::unknown) << id;
  }
}

TEST(Judge, HangThatNothingCoversIsNoPass) {
  RankText rank(0, 1);
  rank.mark("phase", 5, R"("phase":"write")").enter("cuStreamSynchronize", 9).cut();
  const Judgement got = judge(set_of({rank}, unit_line("\"SM-DATA-1\"", "hang")));
  ASSERT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(got.uncovered[0], "hang: rank 0 waits in cuStreamSynchronize (phase write)");
  EXPECT_EQ(exit_code(got), kExitIncomplete);
}

TEST(Judge, HangInACaseOfACoveringRequirementFailsIt) {
  for (const char* id : {"SM-AGRE-8", "SM-SIG-4"}) {
    const Judgement got =
        judge(set_of({RankText(0, 1).cut()}, unit_line("\"" + std::string(id) + "\"", "hang")));
    EXPECT_EQ(verdict_of(got, id).status, VerdictStatus::fail) << id;
    EXPECT_TRUE(got.uncovered.empty()) << id;
    EXPECT_EQ(exit_code(got), kExitFail) << id;
  }
}

TEST(Judge, CrashThatNothingCoversIsNoPass) {
  const Judgement got = judge(
      set_of({RankText(0), RankText(1).cut()}, R"({"type":"exit","rank":1,"case":"A.B","signal":9})"
                                               "\n" +
                                                   unit_line("\"SM-DATA-1\"", "crash")));
  ASSERT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(got.uncovered[0], "crash: rank 1 was ended by signal 9");
  EXPECT_EQ(exit_code(got), kExitIncomplete);
}

std::string crash_line(const std::string& ids) {
  return R"({"type":"unit","case":"A.B","ids":[)" + ids +
         R"(],"end":"crash","ranks":[1],"text":"rank 1 threw in phase import: boom"})"
         "\n";
}

const char* const kLostPeer =
    R"("call":"agree","code":0,"phase":"import","ok":false,"text":"rank 1 is gone")";

TEST(Judge, ACrashIsOfTheRankThatTheSupervisorNames) {
  const evidence::EvidenceSet set =
      set_of({RankText(0).mark("outcome", 2, kLostPeer), RankText(1)}, crash_line("\"SM-AGRE-8\""));
  const Judgement got = judge(set);
  EXPECT_EQ(text_of(verdict_of(got, "SM-AGRE-8")),
            "fail [1]: crash: rank 1 threw in phase import: boom");
  EXPECT_TRUE(got.uncovered.empty());
  EXPECT_EQ(exit_code(got), kExitFail);
}

// The steps of those that are left fail because of it.
TEST(Judge, SurvivorsOfACrashAreNotBlamed) {
  const Judgement got = judge(set_of({RankText(0).mark("outcome", 2, kLostPeer), RankText(1)},
                                     crash_line("\"SM-DATA-1\"")));
  ASSERT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(got.uncovered[0], "crash: rank 1 threw in phase import: boom");
  EXPECT_EQ(exit_code(got), kExitIncomplete);
}

const char* const kFailedClose =
    R"("call":"cuMemRelease","code":700,"phase":"teardown","ok":false,"text":"refused")";

// A step of the implementation that failed after the last check must not end in a pass.
TEST(Judge, FailedStepThatNothingCoversIsNoPass) {
  RankText root(0);
  root.mark("check", 1, kCheck).mark("outcome", 2, kFailedClose);
  const evidence::EvidenceSet set =
      set_of({root, RankText(1).mark("check", 1, kCheck)}, unit_line("\"SM-DATA-1\"", "done"));
  const Judgement got = judge(set);
  EXPECT_EQ(verdict_of(got, "SM-DATA-1").status, VerdictStatus::pass);
  ASSERT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(got.uncovered[0],
            "failed step: rank 0 in cuMemRelease with code 700 (phase teardown): refused");
  EXPECT_TRUE(got.notes.empty()) << got.notes.front();  // said once
  EXPECT_EQ(exit_code(got), kExitIncomplete);
  EXPECT_EQ(exit_code(judge(set, {.ids = {"SM-DATA-1"}, .again = ""})), kExitIncomplete);
}

TEST(Judge, FailedStepOfAFailedAgreementIsExplained) {
  RankText rank(0);
  rank.mark("check", 1, R"("case":"C","ids":["SM-AGRE-8"],"ok":false,"text":"no rank refused")")
      .mark("outcome", 2, kFailedClose);
  const Judgement got = judge(set_of({rank, RankText(1)}));
  EXPECT_TRUE(got.uncovered.empty());
  EXPECT_EQ(got.notes,
            std::vector<std::string>{"failed step: rank 0 in cuMemRelease with code 700 (phase "
                                     "teardown): refused"});
  EXPECT_EQ(exit_code(got), kExitFail);
}

TEST(Judge, HarnessErrorIsAnErrorOfTheUnitsIds) {
  const Judgement got =
      judge(set_of({}, unit_line("\"SM-DATA-1\"", "error", "the broker was ended by signal 9")));
  EXPECT_EQ(verdict_of(got, "SM-DATA-1").status, VerdictStatus::error);
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::unknown);
  EXPECT_EQ(exit_code(got), kExitError);
  EXPECT_EQ(exit_code(judge(set_of({}, unit_line("", "error")))), kExitError);
}

TEST(Judge, NotesTellWhatIsMissing) {
  const std::vector<std::string> notes = judge(set_of({RankText(0, 4).cut()})).notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0], "no evidence of ranks 1, 2 and 3 of 4");
  EXPECT_EQ(notes[1], "rank 0: no footer: the rank did not end by itself");
}

Judgement judgement(const std::vector<std::pair<std::string, VerdictStatus>>& verdicts) {
  Judgement out;
  for (const auto& [id, status] : verdicts) {
    Verdict verdict = unknown_verdict(id);
    verdict.status = status;
    verdict.reason = std::string("because ") + name(status);
    out.verdicts.push_back(verdict);
  }
  return out;
}

// Design section 5: "the first that applies".
TEST(ExitCode, FirstThatApplies) {
  using enum VerdictStatus;
  EXPECT_EQ(exit_code(judgement({{"A", error}, {"B", fail}, {"C", pass}})), 3);
  EXPECT_EQ(exit_code(judgement({{"B", fail}, {"C", skipped}}),
                      {.must_run = {"C"}, .unknown_counts = true, .required = {}}),
            1);
  EXPECT_EQ(exit_code(judgement({{"B", pass}, {"C", skipped}}),
                      {.must_run = {"C"}, .unknown_counts = true, .required = {}}),
            4);
  EXPECT_EQ(exit_code(judgement({{"B", pass}, {"C", unknown}}),
                      {.must_run = {"C"}, .unknown_counts = true, .required = {}}),
            4);
  EXPECT_EQ(exit_code(judgement({{"B", pass}, {"C", unknown}}),
                      {.must_run = {"C"}, .unknown_counts = false, .required = {}}),
            0);
  EXPECT_EQ(exit_code(judgement({{"B", pass}, {"C", unknown}}),
                      {.must_run = {}, .unknown_counts = false, .required = {"C"}}),
            4);
  EXPECT_EQ(exit_code(judgement({{"B", pass}}),
                      {.must_run = {"C"}, .unknown_counts = false, .required = {}}),
            4);
  EXPECT_EQ(exit_code(judgement({{"B", unknown}, {"C", skipped}})), 5);
  EXPECT_EQ(exit_code(judgement({})), 5);
  EXPECT_EQ(exit_code(judgement({{"B", pass}, {"C", unknown}})), 0);
  EXPECT_EQ(exit_code(judgement({{"B", waived}})), 0);
  Judgement hung = judgement({{"B", pass}});
  hung.uncovered.push_back("hang");
  EXPECT_EQ(exit_code(hung), 4);
}

VerdictStatus merged(const std::vector<std::pair<VerdictStatus, bool>>& votes) {
  std::vector<UnitJudgement> units;
  for (const auto& [status, declared] : votes) {
    units.push_back({"U" + std::to_string(units.size()),
                     declared ? std::vector<std::string>{"A"} : std::vector<std::string>{},
                     judgement({{"A", status}})});
  }
  return merge(units).verdicts.at(0).status;
}

TEST(Merge, WhatDecides) {
  using enum VerdictStatus;
  EXPECT_EQ(merged({{pass, true}, {error, false}, {fail, true}}), error);
  EXPECT_EQ(merged({{pass, true}, {fail, false}}), fail);
  EXPECT_EQ(merged({{pass, true}, {unknown, false}}), pass);
  EXPECT_EQ(merged({{pass, true}, {unknown, true}}), unknown);
  EXPECT_EQ(merged({{unknown, false}, {skipped, true}}), skipped);
  EXPECT_EQ(merged({{pass, false}, {skipped, true}}), pass);
  EXPECT_EQ(merged({{unknown, false}, {unknown, false}}), unknown);
}

TEST(Merge, AddsUpAndNamesTheUnit) {
  Judgement a = judgement({{"A", VerdictStatus::fail}});
  a.verdicts[0].ranks = {1};
  a.ranks.push_back({1, 0, 0, {{"PtoP", 2}}, {}, {}});
  Judgement b = judgement({{"A", VerdictStatus::fail}});
  b.verdicts[0].ranks = {0};
  b.ranks.push_back({1, 0, 0, {{"PtoP", 3}, {"DtoD", 1}}, {{"HtoD", 4}}, {}});
  b.uncovered.push_back("crash: x");
  const Judgement got = merge({{"One", {}, a}, {"Two", {}, b}});
  EXPECT_EQ(got.verdicts.at(0).ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(got.verdicts.at(0).reason,
            "One and Two: because fail");  // the same reason is not repeated
  EXPECT_EQ(got.ranks.at(0).copies,
            (std::map<std::string, std::int64_t>{{"DtoD", 1}, {"PtoP", 5}}));
  EXPECT_EQ(got.uncovered.at(0), "Two: crash: x");
}

}  // namespace
}  // namespace symmcts::judge

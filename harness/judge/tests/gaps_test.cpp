// What is missing could have changed a pass: it is none.
#include "harness/judge/gaps.hpp"

#include "harness/judge/exit_code.hpp"
#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// A rank of a run in which everything is right.
RankText good(int rank, int world = 2) {
  RankText text(rank, world);
  text.mark("case-begin", 1, R"("case":"A.B","ids":["SM-DATA-1"])");
  text.mark("group", 2, R"("group":"world","ranks":[0,1],"root":0)");
  rendezvous(text, rank == 0);
  text.mark("measure-begin", 9500, R"("label":"x")");
  text.copy("PtoP", 10'000, 11'000, 12'000, 1, kMiB, kMulticast);
  text.mark("measure-end", 13'000, R"("label":"x")");
  text.mark("check", 14'000, R"("case":"A.B","ids":["SM-DATA-1"],"ok":true,"text":"fine")");
  return text;
}

RankText ended(RankText text) {
  return text.mark("case-end", 15'000, R"("case":"A.B","ids":["SM-DATA-1"])");
}

const std::vector<std::string> kPassing{"SM-DATA-1", "SM-KIND-1", "SM-KIND-2",
                                        "SM-LIFE-1", "SM-PROV-1", "SM-PROV-2"};

// None of the six passes, and each says why.
void expect_withheld(const evidence::EvidenceSet& set, const std::string& why) {
  const Judgement got = judge(set);
  for (const std::string& id : kPassing) {
    const Verdict verdict = verdict_of(got, id);
    EXPECT_EQ(verdict.status, VerdictStatus::unknown) << id;
    EXPECT_EQ(verdict.reason.find(why), 0u) << text_of(verdict);
  }
  EXPECT_EQ(exit_code(got), kExitNothing);
}

TEST(Gaps, WithoutAnyEverythingPasses) {
  const Judgement got = judge(set_of({ended(good(0)), ended(good(1))}));
  for (const std::string& id : kPassing) {
    EXPECT_EQ(verdict_of(got, id).status, VerdictStatus::pass) << text_of(verdict_of(got, id));
  }
  EXPECT_EQ(exit_code(got), kExitPass);
}

TEST(Gaps, AFileWithoutAFooter) {
  expect_withheld(set_of({ended(good(0)), ended(good(1)).cut()}),
                  "rank 1: no footer: the rank did not end by itself; as far as the evidence goes");
}

TEST(Gaps, ACallThatNeverCameBack) {
  expect_withheld(set_of({ended(good(0)).enter("cuMemMap", 16'000), ended(good(1))}),
                  "rank 0: 1 call had not come back when the rank ended; ");
}

// The rank program gave up, and ended as any program does.
TEST(Gaps, ACaseThatDidNotEnd) {
  expect_withheld(set_of({good(0), ended(good(1))}), "rank 0: case A.B did not end; ");
}

// Also for a group that the rank is no member of: nobody can know what it did.
TEST(Gaps, ARankWithoutEvidence) {
  const Judgement got = judge(set_of({ended(good(0, 3)), ended(good(1, 3))}));
  for (const std::string& id : kPassing) {
    EXPECT_EQ(verdict_of(got, id).status, VerdictStatus::unknown) << id;
    EXPECT_NE(verdict_of(got, id).reason.find("rank 2"), std::string::npos) << id;
  }
  EXPECT_EQ(exit_code(got), kExitNothing);
}

TEST(Gaps, AMachineFileWithoutItsLastLine) {
  evidence::EvidenceSet set = set_of({ended(good(0)), ended(good(1))});
  set.machine.cut = true;
  expect_withheld(set, "machine: no unit line: the file was cut; ");
}

TEST(Gaps, AFailStays) {
  RankText root = good(0);
  root.call("cuMemMap", 9000, R"("mapping":2,"range":1,"offset":0,"bytes":2097152,"handle":2)");
  const Judgement got = judge(set_of({root.cut(), good(1)}));
  EXPECT_EQ(verdict_of(got, "SM-PROV-1").status, VerdictStatus::fail);
  EXPECT_EQ(exit_code(got), kExitFail);
}

// A record that is lost may be the one write that was not a peer copy. Calls are not lost with it.
TEST(Gaps, DroppedRecordsConcernWhatRestsOnRecords) {
  RankText lossy = good(1);
  lossy.line(R"({"type":"dropped","records":3})");
  const Judgement got = judge(set_of({ended(good(0)), ended(lossy)}));
  for (const char* id : {"SM-KIND-1", "SM-KIND-2"}) {
    EXPECT_EQ(verdict_of(got, id).status, VerdictStatus::unknown) << id;
    EXPECT_EQ(verdict_of(got, id).reason.find("the profiler dropped records of rank 1; "), 0u);
  }
  EXPECT_EQ(verdict_of(got, "SM-PROV-1").status, VerdictStatus::pass);
  EXPECT_EQ(verdict_of(got, "SM-DATA-1").status, VerdictStatus::pass);
}

}  // namespace
}  // namespace symmcts::judge

#include "harness/judge/exit_code.hpp"
#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

Verdict life(const evidence::EvidenceSet& set) { return verdict_of(judge(set), "SM-LIFE-1"); }

RankText root_with(evidence::Ns release_at, const std::string& route = "fabric") {
  RankText root(0);
  rendezvous(root, true,
             {.self_import = true, .import_at = 1500, .release_at = release_at, .route = route});
  return root;
}

RankText peer_with(evidence::Ns import_at, const std::string& route = "fabric", int host = 0,
                   const std::string& clock = "virtual") {
  RankText peer(1, 2, host, clock);
  rendezvous(peer, false,
             {.self_import = true, .import_at = import_at, .release_at = 0, .route = route});
  return peer;
}

TEST(Lifetime, ReleaseAfterEveryImportPasses) {
  const Verdict got = life(set_of({root_with(9000), peer_with(2000)}));
  EXPECT_EQ(got.status, VerdictStatus::pass) << got.reason;
  EXPECT_EQ(got.reason,
            "every import of 1 multicast object came before the release of its create reference");
}

TEST(Lifetime, NeverReleasedPassesAndSaysSo) {
  const Verdict got = life(set_of({root_with(0), peer_with(2000)}));
  EXPECT_EQ(got.status, VerdictStatus::pass);
  EXPECT_NE(got.reason.find("never released"), std::string::npos);
}

TEST(Lifetime, ReleaseBeforeAnImportFailsWithoutAHangToo) {
  const Verdict got = life(set_of({root_with(1700), peer_with(2000)}));
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_EQ(got.ranks, std::vector<int>{0});
  EXPECT_EQ(got.reason,
            "rank 0 released its create reference before rank 1 had imported the object");
}

// An import in flight while the reference goes is not ordered either (each takes 100 ns here).
TEST(Lifetime, ReleaseDuringAnImportFails) {
  EXPECT_EQ(life(set_of({root_with(2050), peer_with(2000)})).status, VerdictStatus::fail);
  EXPECT_EQ(life(set_of({root_with(2100), peer_with(2000)})).status, VerdictStatus::pass);
}

TEST(Lifetime, DescriptorKeepsTheObjectAlive) {
  const Verdict got = life(set_of({root_with(1700, "fd"), peer_with(2000, "fd")}));
  EXPECT_EQ(got.status, VerdictStatus::pass);
  EXPECT_NE(got.reason.find("an open descriptor keeps the object alive"), std::string::npos);
}

TEST(Lifetime, RetainedReferenceCounts) {
  RankText root(0);
  root.call("cuMulticastCreate", 500, R"("handle":2,"bytes":2097152,"devices":2,"types":8)");
  root.call("cuMemExportToShareableHandle", 600,
            R"("handle":2,"route":"fabric","token":"00112233445566aa")");
  root.call("cuMemRetainAllocationHandle", 700, R"("handle":2,"at":{})");
  root.call("cuMemRelease", 800, R"("handle":2)");
  EXPECT_EQ(life(set_of({root, peer_with(2000)})).status, VerdictStatus::pass);
  root.call("cuMemRelease", 900, R"("handle":2)");
  EXPECT_EQ(life(set_of({root, peer_with(2000)})).status, VerdictStatus::fail);
}

TEST(Lifetime, ClocksOfDifferentHostsCannotOrder) {
  RankText root(0, 2, 0, "cupti");
  rendezvous(root, true,
             {.self_import = true, .import_at = 1500, .release_at = 1700, .route = "fabric"});
  EXPECT_EQ(life(set_of({root, peer_with(2000, "fabric", 1, "cupti")})).status,
            VerdictStatus::unknown);
  EXPECT_EQ(life(set_of({root, peer_with(2000, "fabric", 0, "cupti")})).status,
            VerdictStatus::fail);
}

TEST(Lifetime, NoImportSeenIsUnknown) {
  EXPECT_EQ(life(set_of({root_with(9000), RankText(1)})).status, VerdictStatus::unknown);
  EXPECT_EQ(life(set_of({RankText(0), RankText(1)})).status, VerdictStatus::unknown);
}

// torchcomms#3506: the late importer gets a fresh object; every rank blocks in bind.
evidence::EvidenceSet hanging(const std::string& machine) {
  RankText root(0), peer(1);
  root.call("cuMulticastCreate", 500, R"("handle":2,"bytes":2097152,"devices":2,"types":8)");
  root.call("cuMemExportToShareableHandle", 600, R"("handle":2,"route":"fabric","token":"ab")");
  root.call("cuMemImportFromShareableHandle", 700, R"("handle":3,"route":"fabric","token":"ab")");
  root.call("cuMemRelease", 800, R"("handle":2)");
  root.call("cuMulticastAddDevice", 900, R"("handle":3,"device":0)");
  root.mark("phase", 950, R"("phase":"bind")").enter("cuMulticastBindMem", 1000).cut();
  peer.call("cuMemImportFromShareableHandle", 5000, R"("handle":1,"route":"fabric","token":"ab")");
  peer.call("cuMulticastAddDevice", 5200, R"("handle":1,"device":0)");
  peer.mark("phase", 5250, R"("phase":"bind")").enter("cuMulticastBindMem", 5300).cut();
  return set_of({root, peer}, machine);
}

const std::string kHangLine =
    R"({"type":"hang","source":"platform","case":"Lifetime.X","ranks":[{"rank":0,"phase":"","where":""},{"rank":1,"phase":"","where":""}],"objects":[{"creator":0,"devices":2,"missing":[1],"empty":false},{"creator":0,"devices":2,"missing":[0],"empty":true}],"text":"nothing can move"})"
    "\n";
const std::string kUnitHang =
    R"({"type":"unit","case":"Lifetime.X","ids":["SM-LIFE-1"],"end":"hang"})"
    "\n";

TEST(Lifetime, HangOfALateImporterIsExplained) {
  const Judgement got = judge(hanging(kHangLine + kUnitHang));
  const Verdict verdict = verdict_of(got, "SM-LIFE-1");
  EXPECT_EQ(verdict.status, VerdictStatus::fail);
  EXPECT_EQ(verdict.ranks, (std::vector<int>{0, 1}));
  for (const char* part :
       {"rank 0 released its create reference before rank 1 had imported the object",
        "empty object", "rank 0 waits in cuMulticastBindMem (phase bind)",
        "rank 1 waits in cuMulticastBindMem (phase bind)", "missing: device 0",
        "missing: device 1"}) {
    EXPECT_NE(verdict.reason.find(part), std::string::npos) << part << "\n" << verdict.reason;
  }
  EXPECT_TRUE(got.uncovered.empty());
}

// Real hardware has no platform to tell: the watchdog's unit line and the calls are enough.
TEST(Lifetime, HangIsExplainedFromTheRanksAlone) {
  const Verdict verdict = life(hanging(kUnitHang));
  EXPECT_EQ(verdict.status, VerdictStatus::fail);
  EXPECT_NE(verdict.reason.find("rank 1 waits in cuMulticastBindMem (phase bind)"),
            std::string::npos)
      << verdict.reason;
}

TEST(Lifetime, EmptyObjectAloneIsEnough) {
  const std::string unit = R"({"type":"unit","case":"Data.X","ids":["SM-DATA-1"],"end":"hang"})"
                           "\n";
  const Judgement got = judge(set_of({RankText(0), RankText(1)}, kHangLine + unit));
  EXPECT_EQ(verdict_of(got, "SM-LIFE-1").status, VerdictStatus::fail);
  EXPECT_TRUE(got.uncovered.empty());
}

std::string ended(const std::string& how) {
  return R"({"type":"unit","case":"Lifetime.X","ids":["SM-LIFE-1"],"end":")" + how + "\"}\n";
}

// What broke before or after the rendezvous says nothing of the create reference.
TEST(Lifetime, CrashInOpenIsUncovered) {
  RankText root(0), peer(1);
  peer.mark("phase", 5, R"("phase":"open")").cut();
  const Judgement got =
      judge(set_of({root, peer}, R"({"type":"exit","rank":1,"case":"Lifetime.X","signal":11})"
                                 "\n" +
                                     ended("crash")));
  EXPECT_EQ(verdict_of(got, "SM-LIFE-1").status, VerdictStatus::unknown);
  ASSERT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(got.uncovered[0], "crash: rank 1 was ended by signal 11 (phase open)");
  EXPECT_EQ(exit_code(got), kExitIncomplete);
}

TEST(Lifetime, HangInTeardownIsUncovered) {
  RankText root = root_with(9000), peer = peer_with(2000);
  peer.mark("phase", 9500, R"("phase":"teardown")").enter("cuMulticastUnbind", 9600).cut();
  const Judgement got = judge(set_of({root, peer}, ended("hang")));
  const Verdict verdict = verdict_of(got, "SM-LIFE-1");
  EXPECT_EQ(verdict.status, VerdictStatus::unknown);
  EXPECT_NE(verdict.reason.find("rank 1 waits in cuMulticastUnbind"), std::string::npos)
      << verdict.reason;
  EXPECT_EQ(got.uncovered.size(), 1u);
  EXPECT_EQ(exit_code(got), kExitIncomplete);
}

// The late import is a fail by itself; a hang elsewhere than in bind or map is another matter.
TEST(Lifetime, LateImportDoesNotExplainAHangInTeardown) {
  RankText root = root_with(1700), peer = peer_with(2000);
  peer.mark("phase", 9500, R"("phase":"teardown")").enter("cuMulticastUnbind", 9600).cut();
  const Judgement got = judge(set_of({root, peer}, ended("hang")));
  const Verdict verdict = verdict_of(got, "SM-LIFE-1");
  EXPECT_EQ(verdict.status, VerdictStatus::fail);
  EXPECT_EQ(verdict.reason,
            "rank 0 released its create reference before rank 1 had imported the object");
  EXPECT_EQ(got.uncovered.size(), 1u);
}

TEST(Lifetime, ObjectThatNobodyImportedIsUnknown) {
  RankText root(0, 1);
  root.call("cuMulticastCreate", 500, R"("handle":2,"bytes":2097152,"devices":1,"types":8)");
  root.call("cuMemRelease", 900, R"("handle":2)");
  const Verdict verdict = life(set_of({root}));
  EXPECT_EQ(verdict.status, VerdictStatus::unknown);
  EXPECT_NE(verdict.reason.find("nothing imported"), std::string::npos) << verdict.reason;
}

}  // namespace
}  // namespace symmcts::judge

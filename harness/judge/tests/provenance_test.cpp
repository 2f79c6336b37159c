#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

Judgement with_root(bool self_import, const std::string& route = "fabric") {
  RankText root(0), peer(1);
  rendezvous(root, true,
             {.self_import = self_import, .import_at = 2000, .release_at = 9000, .route = route});
  rendezvous(peer, false,
             {.self_import = true, .import_at = 2000, .release_at = 0, .route = route});
  return judge(set_of({root, peer}));
}

TEST(Provenance, UniformSelfImportPasses) {
  for (const char* route : {"fabric", "fd"}) {
    const Judgement got = with_root(true, route);
    EXPECT_EQ(verdict_of(got, "SM-PROV-1").status, VerdictStatus::pass) << route;
    EXPECT_EQ(verdict_of(got, "SM-PROV-2").status, VerdictStatus::pass) << route;
  }
}

// pytorch#192530 before the fix.
TEST(Provenance, NativeRootFailsAndIsNamed) {
  const Judgement got = with_root(false);
  const Verdict first = verdict_of(got, "SM-PROV-1");
  EXPECT_EQ(first.status, VerdictStatus::fail);
  EXPECT_EQ(first.ranks, std::vector<int>{0});
  EXPECT_NE(first.reason.find("rank 0, the creator of its group"), std::string::npos)
      << first.reason;
  const Verdict second = verdict_of(got, "SM-PROV-2");
  EXPECT_EQ(second.status, VerdictStatus::fail);
  EXPECT_EQ(second.ranks, std::vector<int>{0});
}

// One process that holds everything: the same provenance everywhere, and still the wrong one.
TEST(Provenance, AllNativeFailsOnlyTheFirst) {
  RankText only(0, 1);
  rendezvous(only, true,
             {.self_import = false, .import_at = 0, .release_at = 9000, .route = "fabric"});
  const Judgement got = judge(set_of({only}));
  EXPECT_EQ(verdict_of(got, "SM-PROV-1").status, VerdictStatus::fail);
  EXPECT_EQ(verdict_of(got, "SM-PROV-2").status, VerdictStatus::pass);
}

TEST(Provenance, SecondBlockCounts) {
  RankText root(0), peer(1);
  rendezvous(root, true);
  rendezvous(peer, false);
  root.call("cuMulticastCreate", 20000, R"("handle":9,"bytes":2097152,"devices":2,"types":8)");
  root.call("cuMemExportToShareableHandle", 20100, R"("handle":9,"route":"fabric","token":"b2")");
  root.call("cuMemMap", 21000, R"("mapping":2,"range":2,"offset":0,"bytes":2097152,"handle":9)");
  peer.call("cuMemImportFromShareableHandle", 20500, R"("handle":9,"route":"fabric","token":"b2")");
  peer.call("cuMemMap", 21000, R"("mapping":2,"range":2,"offset":0,"bytes":2097152,"handle":9)");
  const Verdict got = verdict_of(judge(set_of({root, peer})), "SM-PROV-2");
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_NE(got.reason.find("1 of 2 blocks"), std::string::npos) << got.reason;
}

// torchcomms#3130: a try that one rank could not map is undone on all, and the next one works. The
// mapping of the first try, on the root alone, is no block; it is one if nothing undid it before
// the rank was ready.
TEST(Provenance, MappingsOfATryThatWasUndoneAreLeftOut) {
  for (const bool undone : {true, false}) {
    RankText root(0), peer(1);
    root.call("cuMulticastCreate", 100, R"("handle":8,"bytes":2097152,"devices":2,"types":8)");
    root.call("cuMemExportToShareableHandle", 200, R"("handle":8,"route":"fabric","token":"f")");
    root.call("cuMemImportFromShareableHandle", 300, R"("handle":9,"route":"fabric","token":"f")");
    root.call("cuMemMap", 400, R"("mapping":7,"range":7,"offset":0,"bytes":2097152,"handle":9)");
    if (!undone) root.mark("phase", 450, R"("phase":"ready")");
    root.call("cuMemUnmap", 500, R"("mappings":[7])");
    rendezvous(root, true);
    rendezvous(peer, false);
    for (RankText* rank : {&root, &peer}) rank->mark("phase", 19000, R"("phase":"ready")");
    const Verdict got = verdict_of(judge(set_of({root, peer})), "SM-PROV-2");
    EXPECT_EQ(got.status, undone ? VerdictStatus::pass : VerdictStatus::unknown) << text_of(got);
    EXPECT_EQ(got.reason.find("left out: 1 mapping of tries") != std::string::npos, undone)
        << got.reason;
  }
}

TEST(Provenance, RetainKeepsTheProvenanceOfWhatWasMapped) {
  RankText root(0), peer(1);
  rendezvous(root, true);
  rendezvous(peer, false);
  for (RankText* rank : {&root, &peer}) {
    const std::string handle = rank == &root ? "3" : "2";
    rank->call("cuMemRetainAllocationHandle", 6000,
               R"("handle":)" + handle + R"(,"at":{"mapping":1,"offset":0})");
    rank->call("cuMemMap", 6100,
               R"("mapping":2,"range":2,"offset":0,"bytes":2097152,"handle":)" + handle);
  }
  EXPECT_EQ(verdict_of(judge(set_of({root, peer})), "SM-PROV-1").status, VerdictStatus::pass);
}

TEST(Provenance, UnicastMappingsDoNotCount) {
  RankText a(0), b(1);
  for (RankText* rank : {&a, &b}) {
    rank->call("cuMemCreate", 1, R"("handle":1,"bytes":2097152,"device":0,"types":8)");
    rank->call("cuMemMap", 2, R"("mapping":1,"range":1,"offset":0,"bytes":2097152,"handle":1)");
  }
  const Verdict got = verdict_of(judge(set_of({a, b})), "SM-PROV-1");
  EXPECT_EQ(text_of(got), "unknown []: no multicast mapping in the evidence");
}

TEST(Provenance, RankWithoutMappingLeavesItUnknown) {
  RankText root(0), peer(1);
  rendezvous(root, true);
  const Verdict got = verdict_of(judge(set_of({root, peer})), "SM-PROV-1");
  EXPECT_EQ(got.status, VerdictStatus::unknown);
  EXPECT_EQ(got.ranks, std::vector<int>{1});
}

TEST(Provenance, FailedCallsAreNotMappings) {
  RankText root(0), peer(1);
  rendezvous(root, true);
  rendezvous(peer, false);
  root.call("cuMemMap", 7000, R"("mapping":5,"range":3,"offset":0,"bytes":2097152,"handle":2)", 100,
            1);
  EXPECT_EQ(verdict_of(judge(set_of({root, peer})), "SM-PROV-1").status, VerdictStatus::pass);
}

TEST(Provenance, SourceWithoutCallsIsUnknown) {
  evidence::EvidenceSet set = set_of({RankText(0), RankText(1)});
  for (evidence::RankEvidence& rank : set.ranks) {
    rank.shows = evidence::Capabilities{};
  }
  EXPECT_EQ(verdict_of(judge(set), "SM-PROV-1").status, VerdictStatus::unknown);
  EXPECT_EQ(verdict_of(judge(set), "SM-PROV-2").status, VerdictStatus::unknown);
}

}  // namespace
}  // namespace symmcts::judge

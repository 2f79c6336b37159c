#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// `kinds` of 64 MiB copies to `dst`, one after the other.
RankText rank_with(int rank, const std::vector<std::string>& kinds, const std::string& dst = "{}",
                   int world = 2, std::int64_t bytes = 64 * kMiB) {
  RankText text(rank, world);
  if (dst == kMulticast) {
    rendezvous(text, rank == 0);
  }
  evidence::Ns at = 10'000;
  for (const std::string& kind : kinds) {
    text.copy(kind, at, at + 1000, at + 5000, 1, bytes, dst);
    at += 10'000;
  }
  return text;
}

// The source does not tell what copies write to.
evidence::EvidenceSet blind(evidence::EvidenceSet set) {
  for (evidence::RankEvidence& rank : set.ranks) {
    rank.shows.targets = false;
    rank.shows.provenance = false;
  }
  return set;
}

Verdict parity(const std::vector<RankText>& ranks) {
  return verdict_of(judge(set_of(ranks)), "SM-KIND-1");
}

const std::vector<std::string> kFiveDtoD(5, "DtoD");
const std::vector<std::string> kFivePtoP(5, "PtoP");

// The published counts of pytorch#192530: rank 0 five DtoD, rank 1 five PtoP; after the fix PtoP.
TEST(CopyKind, Pytorch192530Before) {
  const Judgement got =
      judge(set_of({rank_with(0, kFiveDtoD, kMulticast), rank_with(1, kFivePtoP, kMulticast)}));
  const Verdict first = verdict_of(got, "SM-KIND-1");
  EXPECT_EQ(first.status, VerdictStatus::fail);
  EXPECT_EQ(first.ranks, std::vector<int>{0});
  EXPECT_NE(first.reason.find("rank 0, the creator of its group, on device ordinal 0"),
            std::string::npos)
      << first.reason;
  EXPECT_NE(first.reason.find("5 operations of 5 compared, 0 unmatched"), std::string::npos)
      << first.reason;
  const Verdict second = verdict_of(got, "SM-KIND-2");
  EXPECT_EQ(second.status, VerdictStatus::fail);
  EXPECT_EQ(second.ranks, std::vector<int>{0});
  EXPECT_EQ(got.ranks.at(0).copies, (std::map<std::string, std::int64_t>{{"DtoD", 5}}));
  EXPECT_EQ(got.ranks.at(1).copies, (std::map<std::string, std::int64_t>{{"PtoP", 5}}));
}

TEST(CopyKind, Pytorch192530After) {
  const Judgement got =
      judge(set_of({rank_with(0, kFivePtoP, kMulticast), rank_with(1, kFivePtoP, kMulticast)}));
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  EXPECT_EQ(verdict_of(got, "SM-KIND-2").status, VerdictStatus::pass);
}

// One process that holds all ranks, or a broken rule everywhere: alike, and all wrong.
TEST(CopyKind, AlikeButNotPeer) {
  const Judgement got =
      judge(set_of({rank_with(0, kFiveDtoD, kMulticast), rank_with(1, kFiveDtoD, kMulticast)}));
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  const Verdict second = verdict_of(got, "SM-KIND-2");
  EXPECT_EQ(second.status, VerdictStatus::fail);
  EXPECT_EQ(second.ranks, (std::vector<int>{0, 1}));
}

// torchcomms#3498: a 256-rank job, these eight showed DtoD, the other 248 PtoP.
TEST(CopyKind, TheEightOddRanksOf256) {
  const std::vector<int> odd{0, 4, 64, 68, 128, 132, 192, 196};
  std::vector<RankText> ranks;
  for (int rank = 0; rank < 256; ++rank) {
    const bool is_odd = std::find(odd.begin(), odd.end(), rank) != odd.end();
    ranks.push_back(rank_with(rank, {is_odd ? "DtoD" : "PtoP"}, "{}", 256));
  }
  EXPECT_EQ(verdict_of(judge(blind(set_of(ranks))), "SM-KIND-1").ranks, odd);
}

TEST(CopyKind, FailFromAFileWithoutTargetsPrintsBothReadings) {
  const Judgement got = judge(blind(set_of({rank_with(0, kFiveDtoD), rank_with(1, kFivePtoP)})));
  const Verdict verdict = verdict_of(got, "SM-KIND-1");
  EXPECT_EQ(verdict.status, VerdictStatus::fail);
  EXPECT_EQ(verdict.ranks, std::vector<int>{0});
  EXPECT_NE(verdict.reason.find("native multicast handle"), std::string::npos);
  EXPECT_NE(verdict.reason.find("wrote its own memory"), std::string::npos);
  EXPECT_EQ(verdict_of(got, "SM-KIND-2").status, VerdictStatus::unknown);
}

TEST(CopyKind, PermutedIsUnknownWithoutTargets) {
  const Verdict got = parity({rank_with(0, {"DtoD", "PtoP"}), rank_with(1, {"PtoP", "DtoD"})});
  EXPECT_EQ(got.status, VerdictStatus::unknown);
  EXPECT_EQ(got.reason.find("permuted"), 0u) << got.reason;
}

// Unicast all-gather: every rank writes itself and its peer, each in its own order.
TEST(CopyKind, PermutedIsExplainedByTargets) {
  RankText a(0), b(1);
  for (RankText* rank : {&a, &b}) {
    rank->call("cuMemCreate", 1, R"("handle":1,"bytes":2097152,"device":0,"types":8)");
    rank->call("cuMemMap", 2, R"("mapping":1,"range":1,"offset":0,"bytes":2097152,"handle":1)");
    rank->call("cuMemImportFromShareableHandle", 3, R"("handle":2,"route":"fabric","token":"77")");
    rank->call("cuMemMap", 4, R"("mapping":2,"range":2,"offset":0,"bytes":2097152,"handle":2)");
    rank->call("cuMulticastCreate", 5, R"("handle":3,"bytes":2097152,"devices":2,"types":8)");
    rank->call("cuMemMap", 6, R"("mapping":3,"range":3,"offset":0,"bytes":2097152,"handle":3)");
    rank->copy("PtoP", 7, 8, 9, 1, kMiB, R"({"mapping":3,"offset":0})");
  }
  const std::string own = R"({"mapping":1,"offset":0})";
  const std::string peer = R"({"mapping":2,"offset":0})";
  a.copy("DtoD", 10, 20, 30, 1, kMiB, own).copy("PtoP", 40, 50, 60, 1, kMiB, peer);
  b.copy("PtoP", 10, 20, 30, 1, kMiB, peer).copy("DtoD", 40, 50, 60, 1, kMiB, own);
  EXPECT_EQ(parity({a, b}).status, VerdictStatus::pass);
}

// A batch on one rank, single copies on the other: copies are counted, not records.
TEST(CopyKind, BatchedRecordsCountTheirCopies) {
  RankText batch(0), single(1);
  batch.call("cuMemcpyBatchAsync", 10, R"("dst":{},"src":{},"bytes":4194304,"stream":1)");
  batch.line(
      R"({"type":"copy","corr":1,"kind":"PtoP","bytes":4194304,"start":20,"end":90,"device":0,"stream":13,"copies":4})");
  for (int i = 0; i < 4; ++i) {
    single.copy("PtoP", 10 + i, 100 * i, 100 * i + 90, 1, kMiB);
  }
  const Judgement got = judge(blind(set_of({batch, single})));
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  EXPECT_NE(verdict_of(got, "SM-KIND-1").reason.find("4 compared, 0 unmatched"), std::string::npos);
  EXPECT_EQ(got.ranks.at(0).copies.at("PtoP"), 4);
}

// Measured on H200: four peer copies in one batch are one record without a count.
TEST(CopyKind, MergedBatchIsCountedByItsCall) {
  RankText batch(0);
  batch.call(
      "cuMemcpyBatchAsync", 10,
      R"("dst":{},"src":{},"bytes":64,"stream":1,"ops":[{"dst":{},"src":{},"bytes":32},{"dst":{},"src":{},"bytes":32}])");
  batch.line(
      R"({"type":"copy","corr":1,"kind":"PtoP","bytes":64,"start":20,"end":90,"device":0,"stream":13,"copies":1})");
  EXPECT_EQ(judge(set_of({batch})).ranks.at(0).copies.at("PtoP"), 2);
}

// NCCL's copy-engine collectives send 4-byte flags by copy; they would swamp every count.
TEST(CopyKind, SignalsAreKeptApart) {
  RankText a = rank_with(0, kFivePtoP, kMulticast);
  RankText b = rank_with(1, kFivePtoP, kMulticast);
  a.copy("DtoD", 90'000, 91'000, 92'000, 1, 16, kMulticast);
  b.copy("PtoP", 90'000, 91'000, 92'000, 1, 16, kMulticast);
  const Judgement got = judge(set_of({a, b}));
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  EXPECT_EQ(verdict_of(got, "SM-KIND-2").status, VerdictStatus::pass);
  EXPECT_EQ(got.ranks.at(0).signals, (std::map<std::string, std::int64_t>{{"DtoD", 1}}));
  a.copy("DtoD", 95'000, 96'000, 97'000, 1, 17, kMulticast);
  b.copy("PtoP", 95'000, 96'000, 97'000, 1, 17, kMulticast);
  EXPECT_EQ(parity({a, b}).status, VerdictStatus::fail);
}

TEST(CopyKind, HostCopiesAreComparedAlike) {
  const evidence::EvidenceSet same = set_of({rank_with(0, {"HtoD"}), rank_with(1, {"HtoD"})});
  EXPECT_EQ(text_of(verdict_of(judge(blind(same)), "SM-KIND-1")),
            "pass [0,1]: same copy kinds on ranks 0 and 1 (1 compared, 0 unmatched); only host "
            "copies were compared");
  evidence::EvidenceSet set = blind(set_of({rank_with(0, {"HtoD"}), rank_with(1, {"DtoH"})}));
  EXPECT_EQ(verdict_of(judge(set), "SM-KIND-1").status, VerdictStatus::fail);
}

// A source that shows targets and no multicast write among them proves nothing about such writes.
TEST(CopyKind, AgreementWithoutAMulticastWriteIsUnknown) {
  for (const char* kind : {"HtoD", "PtoP"}) {
    const evidence::EvidenceSet set = set_of({rank_with(0, {kind}), rank_with(1, {kind})});
    EXPECT_EQ(verdict_of(judge(set), "SM-KIND-1").status, VerdictStatus::unknown);
    EXPECT_EQ(verdict_of(judge(blind(set)), "SM-KIND-1").status, VerdictStatus::pass);
  }
  EXPECT_EQ(parity({rank_with(0, {"DtoD"}), rank_with(1, {"PtoP"})}).status, VerdictStatus::fail);
}

// Rank 0 loads what the others receive: an upload and a local copy of one size are two operations.
TEST(CopyKind, HostAndDeviceCopiesAreDifferentOperations) {
  const Verdict got = parity({rank_with(0, {"HtoD", "PtoP"}), rank_with(1, {"DtoD", "PtoP"})});
  EXPECT_NE(got.status, VerdictStatus::fail) << got.reason;
}

TEST(CopyKind, OccurrenceIsTheOrderOfCallsNotOfExecution) {
  RankText a(0), b(1);
  a.copy("DtoD", 10, 5000, 5100, 1, kMiB).copy("PtoP", 20, 100, 200, 2, kMiB);
  b.copy("DtoD", 10, 100, 200, 1, kMiB).copy("PtoP", 20, 5000, 5100, 2, kMiB);
  EXPECT_EQ(verdict_of(judge(blind(set_of({a, b}))), "SM-KIND-1").status, VerdictStatus::pass);
}

TEST(CopyKind, LabelsSeparateOperations) {
  const auto labelled = [](int rank, const std::string& first, const std::string& second) {
    RankText text(rank);
    text.mark("measure-begin", 0, R"("label":"a")")
        .copy(first, 1, 2, 3, 1, kMiB)
        .mark("measure-end", 9);
    text.mark("measure-begin", 10, R"("label":"b")")
        .copy(second, 11, 12, 13, 1, kMiB)
        .mark("measure-end", 19);
    return text;
  };
  const Verdict got = parity({labelled(0, "DtoD", "PtoP"), labelled(1, "PtoP", "DtoD")});
  EXPECT_EQ(got.status, VerdictStatus::fail);  // without labels it would only be permuted
}

TEST(CopyKind, OnlyTheMeasuredPhaseCounts) {
  RankText a(0), b(1);
  a.copy("DtoD", 1, 2, 3, 1, kMiB);
  b.copy("PtoP", 1, 2, 3, 1, kMiB);
  for (RankText* rank : {&a, &b}) {
    rank->mark("measure-begin", 10, R"("label":"x")")
        .copy("PtoP", 11, 12, 13, 1, kMiB)
        .mark("measure-end", 20);
  }
  const Judgement got = judge(blind(set_of({a, b})));
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  EXPECT_EQ(got.ranks.at(0).copies, (std::map<std::string, std::int64_t>{{"PtoP", 1}}));
}

TEST(CopyKind, CaseWithoutMeasuredPhaseHasNoOperations) {
  RankText a(0), b(1);
  for (RankText* rank : {&a, &b}) {
    rank->mark("case-begin", 0, R"("case":"Data.X","ids":["SM-DATA-1"])");
  }
  a.copy("DtoD", 1, 2, 3, 1, kMiB);
  b.copy("PtoP", 1, 2, 3, 1, kMiB);
  EXPECT_EQ(parity({a, b}).status, VerdictStatus::unknown);
}

TEST(CopyKind, MoreOperationsOnOneRankAreUnmatchedNotDifferent) {
  const Verdict got = parity(
      {rank_with(0, {"PtoP", "PtoP", "PtoP"}, kMulticast), rank_with(1, {"PtoP"}, kMulticast)});
  EXPECT_EQ(text_of(got), "pass [0,1]: same copy kinds on ranks 0 and 1 (1 compared, 2 unmatched)");
}

TEST(CopyKind, WhatIsNotSeenIsUnknown) {
  EXPECT_EQ(parity({rank_with(0, kFivePtoP)}).status, VerdictStatus::unknown);
  EXPECT_EQ(parity({rank_with(0, kFivePtoP, "{}", 8), rank_with(1, kFivePtoP, "{}", 8)}).status,
            VerdictStatus::unknown);
  EXPECT_EQ(parity({rank_with(0, kFivePtoP), rank_with(1, {"PtoP"}, "{}", 2, kMiB)}).status,
            VerdictStatus::unknown);
  EXPECT_EQ(parity({}).status, VerdictStatus::unknown);
  RankText lossy = rank_with(1, kFivePtoP);
  lossy.line(R"({"type":"dropped","records":3})");
  EXPECT_EQ(parity({rank_with(0, kFivePtoP), lossy}).status, VerdictStatus::unknown);
}

// ROCm folds peer copies into DtoD: neither agreement nor difference means anything.
TEST(CopyKind, ProfilerWithoutPeerKindIsUnknown) {
  for (const char* other : {"DtoD", "PtoP"}) {
    evidence::EvidenceSet set = blind(set_of({rank_with(0, {"DtoD"}), rank_with(1, {other})}));
    set.ranks[0].shows.peer_kind = false;
    EXPECT_EQ(verdict_of(judge(set), "SM-KIND-1").status, VerdictStatus::unknown);
  }
}

}  // namespace
}  // namespace symmcts::judge

#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

using evidence::Ns;

constexpr std::int64_t kMiB = 1 << 20;
constexpr Ns kUs = 1000;

// Multicast set-up done, uploads on stream 1 and multicast writes on stream 2 follow.
RankText ready_rank(int rank) {
  RankText text(rank);
  rendezvous(text, rank == 0);
  return text;
}

RankText& upload(RankText& rank, Ns submitted, Ns start, Ns end, int stream = 1) {
  return rank.copy("HtoD", submitted, start, end, stream, 256 * kMiB, R"({"alloc":1,"offset":0})");
}

RankText& write(RankText& rank, const std::string& kind, Ns submitted, Ns start, Ns end,
                int stream = 2) {
  return rank.copy(kind, submitted, start, end, stream, 64 * kMiB, kMulticast);
}

// A peer whose write overlaps its upload.
RankText good_peer() {
  RankText rank = ready_rank(1);
  upload(rank, 20 * kUs, 25 * kUs, 4900 * kUs);
  write(rank, "PtoP", 30 * kUs, 35 * kUs, 210 * kUs);
  return rank;
}

Verdict ovlp(const std::vector<RankText>& ranks, const char* id = "SM-OVLP-1") {
  return verdict_of(judge(set_of(ranks)), id);
}

TEST(Overlap, BothRanksOverlap) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 4900 * kUs);
  write(root, "PtoP", 30 * kUs, 35 * kUs, 210 * kUs);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::pass) << got.reason;
  EXPECT_EQ(got.ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(ovlp({root, good_peer()}, "SM-OVLP-2").status, VerdictStatus::unknown);
}

// pytorch#192530: five writes of rank 0, each queued behind an upload; rank 1's overlap.
TEST(Overlap, NativeRootQueuesBehindUploads) {
  RankText root = ready_rank(0);
  RankText peer = ready_rank(1);
  for (int i = 0; i < 5; ++i) {
    const Ns t = 20 * kUs + i * 10'000 * kUs;
    upload(root, t, t + 5 * kUs, t + 4900 * kUs);
    write(root, "DtoD", t + 10 * kUs, t + 4903 * kUs, t + 5100 * kUs);
    upload(peer, t, t + 5 * kUs, t + 4900 * kUs);
    write(peer, "PtoP", t + 10 * kUs, t + 15 * kUs, t + 200 * kUs);
  }
  const Verdict got = ovlp({root, peer});
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_EQ(got.ranks, std::vector<int>{0});
  EXPECT_NE(got.reason.find("rank 0, the creator of its group, on device ordinal 0"),
            std::string::npos)
      << got.reason;
  ASSERT_FALSE(got.seen.empty());
  EXPECT_EQ(got.seen[0].second, "5 multicast writes serialized behind HtoD");
}

TEST(Overlap, TransferBehindAWriteFailsToo) {
  RankText root = ready_rank(0);
  write(root, "DtoD", 20 * kUs, 25 * kUs, 500 * kUs);
  upload(root, 30 * kUs, 503 * kUs, 5000 * kUs);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_EQ(got.ranks, std::vector<int>{0});
  EXPECT_EQ(got.seen.at(0).second, "1 HtoD serialized behind multicast writes");
}

TEST(Overlap, DownloadsAreTheSecondRequirement) {
  const auto with = [](int rank, const std::string& kind, Ns start) {
    RankText text = ready_rank(rank);
    text.copy("DtoH", 20 * kUs, 25 * kUs, 4900 * kUs, 1, 256 * kMiB);
    write(text, kind, 30 * kUs, start, start + 100 * kUs);
    return text;
  };
  EXPECT_EQ(ovlp({with(0, "PtoP", 35 * kUs), with(1, "PtoP", 35 * kUs)}, "SM-OVLP-2").status,
            VerdictStatus::pass);
  const Verdict got = ovlp({with(0, "DtoD", 4905 * kUs), with(1, "PtoP", 35 * kUs)}, "SM-OVLP-2");
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_EQ(got.ranks, std::vector<int>{0});
}

// Behind a chain: upload, then another stream's write, then this one, all on one engine.
TEST(Overlap, ChainOfSerializedCopiesCounts) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1500 * kUs, 2);
  write(root, "DtoD", 31 * kUs, 1503 * kUs, 2000 * kUs, 3);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::fail);
  EXPECT_EQ(got.seen.at(0).second, "2 multicast writes serialized behind HtoD");
}

TEST(Overlap, GapBelongsToTheClass) {
  const auto behind = [](const std::string& kind, Ns wait) {
    RankText root = ready_rank(0);
    upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
    write(root, kind, 30 * kUs, 1000 * kUs + wait, 1500 * kUs);
    return ovlp({root, good_peer()}).status;
  };
  EXPECT_EQ(behind("PtoP", 10 * kUs), VerdictStatus::fail);
  EXPECT_EQ(behind("PtoP", 11 * kUs), VerdictStatus::unknown);  // delayed, cause unseen
  EXPECT_EQ(behind("DtoD", 50 * kUs), VerdictStatus::fail);     // measured: 26 to 35 us on H200
  EXPECT_EQ(behind("DtoD", 51 * kUs), VerdictStatus::unknown);
}

TEST(Overlap, PartialOverlapIsUnknown) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(root, "PtoP", 30 * kUs, 960 * kUs, 1060 * kUs);  // 40 of 100 us
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::unknown);
  EXPECT_EQ(got.ranks, std::vector<int>{0});
  RankText half = ready_rank(0);
  upload(half, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(half, "PtoP", 30 * kUs, 950 * kUs, 1050 * kUs);  // half of the shorter
  EXPECT_EQ(ovlp({half, good_peer()}).status, VerdictStatus::pass);
}

TEST(Overlap, NoOpportunityIsUnknown) {
  RankText late = ready_rank(0);  // submitted only when the upload had ended
  upload(late, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(late, "DtoD", 1001 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({late, good_peer()}).status, VerdictStatus::unknown);

  RankText queued = ready_rank(0);  // its own stream's earlier write kept it
  upload(queued, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(queued, "PtoP", 30 * kUs, 900 * kUs, 1001 * kUs);
  write(queued, "PtoP", 31 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({queued, good_peer()}).status, VerdictStatus::pass);

  RankText same_stream = ready_rank(0);
  upload(same_stream, 20 * kUs, 25 * kUs, 1000 * kUs, 1);
  write(same_stream, "PtoP", 30 * kUs, 1003 * kUs, 1100 * kUs, 1);
  EXPECT_EQ(ovlp({same_stream, good_peer()}).status, VerdictStatus::unknown);
}

TEST(Overlap, EventWaitExplainsADelay) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  root.call("cuEventRecord", 26 * kUs, R"("event":1,"stream":1)");
  root.call("cuStreamWaitEvent", 27 * kUs, R"("event":1,"stream":2)");
  write(root, "PtoP", 30 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::unknown);
}

TEST(Overlap, EventThatWasDoneEarlyExplainsNothing) {
  RankText root = ready_rank(0);
  root.call("cuEventRecord", 19 * kUs, R"("event":1,"stream":3)");
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  root.call("cuStreamWaitEvent", 27 * kUs, R"("event":1,"stream":2)");
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::fail);
}

// The barrier before an all-gather: each rank writes the peer's word and waits for its own.
void barrier(RankText& rank, Ns t, int value) {
  const std::string word =
      R"("at":{"mapping":1,"offset":64},"value":)" + std::to_string(value) + R"(,"stream":2)";
  rank.call("cuStreamWriteValue32", t, word).call("cuStreamWaitValue32", t + 200, word);
}

TEST(Overlap, BarrierThatBothRanksPassedEarlyExplainsNothing) {
  RankText root = ready_rank(0), peer = ready_rank(1);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  barrier(root, 21 * kUs, 1);
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  barrier(root, 31 * kUs, 2);
  upload(peer, 20 * kUs, 25 * kUs, 1000 * kUs);
  barrier(peer, 22 * kUs, 1);
  write(peer, "PtoP", 30 * kUs, 40 * kUs, 200 * kUs);
  barrier(peer, 31 * kUs, 2);
  const Verdict got = ovlp({root, peer});
  EXPECT_EQ(got.status, VerdictStatus::fail) << got.reason;
  EXPECT_EQ(got.ranks, std::vector<int>{0});
}

TEST(Overlap, BarrierThatThePeerReachedLateExplainsADelay) {
  RankText root = ready_rank(0), peer = ready_rank(1);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  barrier(root, 21 * kUs, 1);
  write(root, "PtoP", 30 * kUs, 1003 * kUs, 1100 * kUs);
  upload(peer, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(peer, "PtoP", 30 * kUs, 40 * kUs, 999 * kUs);
  barrier(peer, 50 * kUs, 1);  // behind its own write
  EXPECT_EQ(ovlp({root, peer}).status, VerdictStatus::unknown);
}

// Writes to words take their time on the stream, though no record shows it (a barrier of two ranks
// 4.4 to 5.7 us on H200): after seven of them the copy may have become ready when the upload ended.
TEST(Overlap, WordsOfABarrierTakeTime) {
  const auto after_words = [](int words, const JudgeOptions& options = {}) {
    RankText root = ready_rank(0), peer = ready_rank(1);
    upload(root, 0, 25 * kUs, 55 * kUs);
    upload(peer, 0, 25 * kUs, 4900 * kUs);
    for (int i = 1; i <= words; ++i) {
      barrier(root, 20 * kUs + i * 500, i);
      barrier(peer, 20 * kUs + i * 500, i);
    }
    write(root, "DtoD", 26 * kUs, 58 * kUs, 100 * kUs);
    write(peer, "PtoP", 26 * kUs, 58 * kUs, 100 * kUs);
    return verdict_of(judge(set_of({root, peer}), options), "SM-OVLP-1");
  };
  JudgeOptions at_once;
  at_once.word_write = 0;
  EXPECT_EQ(after_words(7, at_once).status, VerdictStatus::fail);
  EXPECT_EQ(after_words(1).status, VerdictStatus::fail);
  EXPECT_EQ(after_words(7).status, VerdictStatus::unknown) << after_words(7).reason;
}

TEST(Overlap, WordThatNobodyIsSeenToWriteIsUnknown) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  root.call("cuStreamWaitValue32", 21 * kUs,
            R"("at":{"mapping":1,"offset":64},"value":5,"stream":2)");
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::unknown);
}

TEST(Overlap, BatchedMemoryOperationsAreRead) {
  RankText root = ready_rank(0), peer = ready_rank(1);
  const std::string ops =
      R"("ops":[{"op":"write32","at":{},"value":1,"flags":0},{"op":"wait32","at":{},"value":1,"flags":0}],"stream":2)";
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  root.call("cuStreamBatchMemOp", 21 * kUs, ops);
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  upload(peer, 20 * kUs, 25 * kUs, 1000 * kUs);
  peer.call("cuStreamBatchMemOp", 21 * kUs, ops);
  write(peer, "PtoP", 30 * kUs, 40 * kUs, 200 * kUs);
  EXPECT_EQ(ovlp({root, peer}).ranks, std::vector<int>{0});
}

TEST(Overlap, KernelOnTheStreamHidesTheReadiness) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(root, "PtoP", 21 * kUs, 30 * kUs, 31 * kUs);
  root.call("cuLaunchKernel", 22 * kUs, "");
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_NE(got.status, VerdictStatus::fail) << got.reason;
}

TEST(Overlap, PageableTransfersDoNotCount) {
  RankText root = ready_rank(0);
  root.copy("HtoD", 20 * kUs, 25 * kUs, 1000 * kUs, 1, 256 * kMiB, "{}", 0, "pageable");
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::unknown);
}

TEST(Overlap, UnicastCopiesAreReportedNotJudged) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  root.copy("DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs, 2, kMiB, R"({"alloc":4,"offset":0})");
  const Judgement got = judge(set_of({root, good_peer()}));
  EXPECT_EQ(verdict_of(got, "SM-OVLP-1").status, VerdictStatus::unknown);
  ASSERT_FALSE(got.observations.empty());
  EXPECT_EQ(got.observations[0].text,
            "rank 0: DtoD of 1 MiB serialized behind HtoD of 256 MiB on another stream, once "
            "(starts 3.00 us after its end)");
}

// Two GPUs of one process share nothing that the records could show.
TEST(Overlap, DifferentDevicesAreApart) {
  RankText root = ready_rank(0);
  root.copy("HtoD", 20 * kUs, 25 * kUs, 1000 * kUs, 1, 256 * kMiB, "{}", 1);
  write(root, "DtoD", 30 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::unknown);
}

// A launch, or a barrier of two ranks, takes as long (measured on H200: 2 to 8 us, 4.4 to 5.7 us).
TEST(Overlap, StartSoonAfterItCouldIsNoDelay) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(root, "PtoP", 995 * kUs, 1003 * kUs, 1100 * kUs);
  EXPECT_EQ(ovlp({root, good_peer()}).status, VerdictStatus::unknown);
}

// Two uploads of one stream with the engine's pause of 3 us in between, into which a write's end
// falls.
TEST(Overlap, PauseOfAnEngineIsNoDelay) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs);
  write(root, "PtoP", 21 * kUs, 800 * kUs, 1001 * kUs);
  upload(root, 22 * kUs, 1003 * kUs, 2000 * kUs);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::pass) << got.reason;
}

// An upload waits for an upload of another stream; a write that ends at the same time is a
// bystander.
TEST(Overlap, WaitForTheOwnEngineIsNotBlamedOnAWrite) {
  RankText root = ready_rank(0);
  upload(root, 20 * kUs, 25 * kUs, 1000 * kUs, 1);
  write(root, "PtoP", 21 * kUs, 500 * kUs, 999 * kUs);
  upload(root, 22 * kUs, 1003 * kUs, 2000 * kUs, 3);
  const Verdict got = ovlp({root, good_peer()});
  EXPECT_EQ(got.status, VerdictStatus::pass) << got.reason;
}

}  // namespace
}  // namespace symmcts::judge

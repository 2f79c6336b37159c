// Verdicts on recordings of 2 x H200 (fixtures/traces/README.md says what was run) and, where a
// checkout has them beside it, on public traces.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/evidence/load.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/judge/tests/rank_text.hpp"

namespace symmcts::judge {
namespace {

const std::string kTraces = SYMMCTS_SOURCE_DIR "/fixtures/traces/kineto-2xh200/";
using Counts = std::map<std::string, std::int64_t>;

Judgement judge_pair(const std::string& name) {
  const auto set =
      evidence::load({kTraces + name + "_rank0.json.gz", kTraces + name + "_rank1.json.gz"});
  EXPECT_TRUE(set) << set.error();
  return set ? judge(set.value()) : Judgement{};
}

int observed(const Judgement& judgement, int rank, const std::string& text) {
  return static_cast<int>(std::count_if(
      judgement.observations.begin(), judgement.observations.end(), [&](const Observation& seen) {
        return seen.rank == rank && seen.text.find(text) != std::string::npos;
      }));
}

bool any_serialized(const Judgement& judgement) {
  return std::any_of(
      judgement.observations.begin(), judgement.observations.end(),
      [](const Observation& seen) { return seen.text.find("serialized") != std::string::npos; });
}

TEST(Recordings, RootWrites) {
  const Judgement got = judge_pair("root_writes");
  const Verdict verdict = verdict_of(got, "SM-KIND-1");
  EXPECT_EQ(verdict.status, VerdictStatus::fail);
  EXPECT_EQ(verdict.ranks, std::vector<int>{0});
  EXPECT_EQ(got.ranks.at(0).copies, (Counts{{"DtoD", 5}}));
  EXPECT_EQ(got.ranks.at(1).copies, (Counts{{"PtoP", 5}}));
  EXPECT_EQ(observed(got, 0, "DtoD of 64 MiB overlaps HtoD of 256 MiB, 5 times"), 1);
  EXPECT_EQ(observed(got, 1, "PtoP of 64 MiB overlaps HtoD of 256 MiB, 5 times"), 1);
  EXPECT_FALSE(any_serialized(got));
  EXPECT_EQ(verdict_of(got, "SM-OVLP-1").status, VerdictStatus::unknown);
  EXPECT_EQ(exit_code(got), kExitFail);
}

TEST(Recordings, RingWrites) {
  const Judgement got = judge_pair("ring_writes");
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  EXPECT_EQ(observed(got, 0, "overlaps HtoD of 256 MiB, 5 times"), 1);
  EXPECT_EQ(observed(got, 1, "overlaps HtoD of 256 MiB, 5 times"), 1);
  EXPECT_EQ(exit_code(got), kExitPass);
  EXPECT_EQ(exit_code(got, {.must_run = {}, .unknown_counts = false, .required = {"SM-PROV-1"}}),
            kExitIncomplete);
}

TEST(Recordings, SmallUpload) {
  const Judgement got = judge_pair("small_upload");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(
        observed(got, rank,
                 "HtoD of 50 KiB serialized behind HtoD of 256 MiB on another stream, 5 times"),
        1);
  }
  EXPECT_EQ(exit_code(got), kExitPass);
}

TEST(Recordings, TwoPeerWrites) {
  const Judgement got = judge_pair("two_peer_writes");
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  for (const int rank : {0, 1}) {
    EXPECT_EQ(observed(got, rank, "PtoP of 32 MiB serialized behind PtoP of 64 MiB"), 1);
  }
  EXPECT_EQ(exit_code(got), kExitPass);
}

TEST(Recordings, AllGather) {
  const Judgement got = judge_pair("all_gather");
  EXPECT_EQ(verdict_of(got, "SM-KIND-1").status, VerdictStatus::pass);
  for (const RankSummary& rank : got.ranks) {
    EXPECT_EQ(rank.copies, (Counts{{"DtoD", 10}, {"PtoP", 10}}));
    EXPECT_EQ(rank.host_copies, (Counts{{"DtoH", 5}, {"HtoD", 5}}));
  }
  EXPECT_FALSE(any_serialized(got));  // its streams wait for events, which the file does not place
  EXPECT_EQ(exit_code(got), kExitPass);
}

// A profiler file never proves more than parity.
TEST(Recordings, OnlyParityIsJudged) {
  for (const Verdict& verdict : judge_pair("ring_writes").verdicts) {
    if (verdict.id != "SM-KIND-1") {
      EXPECT_EQ(verdict.status, VerdictStatus::unknown) << verdict.id;
    }
  }
}

TEST(Recordings, OneFileAloneJudgesNothing) {
  const auto set = evidence::load({kTraces + "ring_writes_rank0.json.gz"});
  ASSERT_TRUE(set) << set.error();
  EXPECT_EQ(exit_code(judge(set.value())), kExitNothing);
}

TEST(Recordings, PublicJobOfEightRanksHasParity) {
  const std::filesystem::path folder = SYMMCTS_PUBLIC_TRACES "/kineto/dlrm_8ranks";
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    GTEST_SKIP() << "no public traces at " << folder << ": NOT TESTED here: a job of eight ranks";
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  const auto set = evidence::load(files);
  ASSERT_TRUE(set) << set.error();
  const Judgement got = judge(set.value());
  EXPECT_EQ(text_of(verdict_of(got, "SM-KIND-1")),
            "pass [0,1,2,3,4,5,6,7]: same copy kinds on ranks 0, 1, 2, 3, 4, 5, 6 and 7 "
            "(16 compared, 0 unmatched)");
}

}  // namespace
}  // namespace symmcts::judge

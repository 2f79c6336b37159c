// Traces from public repositories and damaged variants of them. They are not part of this
// repository; where a checkout has them beside it (../shared/traces/public, or
// SYMMCTS_PUBLIC_TRACES when configuring) they are read from there. Expected counts are those of
// the collection's INDEX.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "harness/evidence/load.hpp"

namespace symmcts::evidence {
namespace {

const std::string kPublic = SYMMCTS_PUBLIC_TRACES;

class PublicTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    std::error_code error;
    if (!std::filesystem::is_directory(kPublic, error)) {
      GTEST_SKIP() << "no public traces at " << kPublic
                   << ": NOT TESTED here: damaged files and the profilers of 2020 to 2026";
    }
  }

  RankEvidence read(const std::string& name, int rank = 0) {
    const std::string path = kPublic + "/" + name;
    Result<EvidenceSet> set = load({path}, {{{path, rank}}});
    EXPECT_TRUE(set) << set.error();
    return set ? std::move(set.value().ranks.at(0)) : RankEvidence{};
  }
};

std::map<CopyKind, int> kinds(const RankEvidence& rank) {
  std::map<CopyKind, int> out;
  for (const Copy& copy : rank.copies) {
    ++out[copy.kind];
  }
  return out;
}

using Kinds = std::map<CopyKind, int>;
const Kinds kSampled{{CopyKind::htod, 24}, {CopyKind::dtoh, 8}, {CopyKind::dtod, 8}};

TEST_F(PublicTraces, SmallDamageCostsNoCopy) {
  for (const char* damage : {"badesc", "ctrl", "na", "quote", "utf8"}) {
    const RankEvidence rank = read("broken/sampled_rank0_" + std::string(damage) + ".json.gz");
    EXPECT_EQ(kinds(rank), kSampled) << damage;
    EXPECT_LE(rank.broken, 1) << damage;
  }
  EXPECT_EQ(kinds(read("kineto/trace_filter_sampled_rank-0.json.gz")), kSampled);
}

TEST_F(PublicTraces, TruncationIsTold) {
  const RankEvidence rank = read("broken/sampled_rank0_trunc.json.gz");
  EXPECT_GT(rank.copies.size(), 0u);
  EXPECT_LT(rank.copies.size(), 40u);
  ASSERT_FALSE(rank.notes.empty());
  EXPECT_NE(rank.notes[0].find("cut off"), std::string::npos);
}

TEST_F(PublicTraces, CountsOfTheIndex) {
  EXPECT_EQ(kinds(read("kineto/resnet50_w0.early2021.worker0.pt.trace.json.gz")),
            (Kinds{{CopyKind::htod, 12}}));
  EXPECT_EQ(kinds(read("kineto/trace_diff_test_test.json.gz")),
            (Kinds{{CopyKind::dtod, 4645}, {CopyKind::htod, 151}, {CopyKind::dtoh, 60}}));
  EXPECT_EQ(kinds(read("kineto/traces_b200_eager_trace.json.gz")),
            (Kinds{{CopyKind::dtod, 146}, {CopyKind::htod, 15}}));
  EXPECT_EQ(kinds(read("kineto/nccl_parser_config_nccl_data.json.gz")),
            (Kinds{{CopyKind::dtod, 960}}));
  EXPECT_EQ(kinds(read("kineto/gpu_metrics_input.json")), (Kinds{{CopyKind::htod, 2}}));
}

TEST_F(PublicTraces, RocmIsRecognized) {
  const RankEvidence rank = read("kineto/amd_trace_mi250_minitoy_train_ROCm6_2_kineto.json.gz");
  EXPECT_EQ(kinds(rank), (Kinds{{CopyKind::htod, 2}}));
  EXPECT_FALSE(rank.shows.peer_kind);
}

TEST_F(PublicTraces, ResolutionIsOfTheTimesNotOfTheDisplayUnit) {
  // "displayTimeUnit": "ns", and yet microseconds.
  const RankEvidence rank =
      read("kineto/ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz");
  EXPECT_EQ(rank.shows.resolution, 1);
  EXPECT_EQ(read("kineto/trace_filter_sampled_rank-0.json.gz").shows.resolution, 1000);
}

}  // namespace
}  // namespace symmcts::evidence

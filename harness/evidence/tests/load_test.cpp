#include "harness/evidence/load.hpp"

#include <gtest/gtest.h>

#include "harness/evidence/file_bytes.hpp"
#include "harness/evidence/tests/temporary_folder.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::evidence {
namespace {

const std::string kTraces = SYMMCTS_SOURCE_DIR "/fixtures/traces/kineto-2xh200/";

std::string header(int rank, const std::string& more = "") {
  return R"({"type":"header","schema":"symm-cts/evidence/1","rank":)" + std::to_string(rank) +
         R"(,"world":2,"clock":"virtual")" + more + "}\n";
}

std::string unit(const std::string& members) {
  return sealed({}, R"({"type":"unit",)" + members + "}") + "\n";
}

std::string error_of(const std::vector<std::string>& paths, const LoadOptions& options = {}) {
  const Result<EvidenceSet> set = load(paths, options);
  return set ? "no error" : set.error();
}

// What ran is written in fixtures/traces/README.md.
TEST(Load, AllGatherPairFromH200) {
  const Result<EvidenceSet> set =
      load({kTraces + "all_gather_rank1.json.gz", kTraces + "all_gather_rank0.json.gz"});
  ASSERT_TRUE(set) << set.error();
  EXPECT_EQ(set.value().world, 2);
  ASSERT_EQ(set.value().ranks.size(), 2u);
  for (int number = 0; number < 2; ++number) {
    const RankEvidence& rank = set.value().ranks[static_cast<std::size_t>(number)];
    EXPECT_EQ(rank.rank(), number);
    EXPECT_EQ(rank.broken, 0);
    std::map<CopyKind, int> kinds;
    for (const Copy& copy : rank.copies) {
      ++kinds[copy.kind];
      EXPECT_EQ(copy.device, number);  // every copy was issued on the rank's own device
    }
    EXPECT_EQ(
        kinds,
        (std::map<CopyKind, int>{
            {CopyKind::htod, 5}, {CopyKind::dtoh, 5}, {CopyKind::dtod, 10}, {CopyKind::ptop, 10}}));
    EXPECT_EQ(rank.header.devices.size(), 2u);
    EXPECT_EQ(rank.header.devices.at(0).name, "NVIDIA H200");
    EXPECT_EQ(rank.shows.resolution, 1);
  }
}

TEST(Load, CutOffGzipKeepsWhatCameBefore) {
  const TemporaryFolder folder;
  const std::string whole = read_text(kTraces + "all_gather_rank0.json.gz");
  const std::string half =
      folder.write("all_gather_rank0.json.gz", whole.substr(0, whole.size() * 3 / 4));
  const Result<EvidenceSet> set = load({half});
  ASSERT_TRUE(set) << set.error();
  const RankEvidence& rank = set.value().ranks.at(0);
  EXPECT_EQ(rank.rank(), 0);
  EXPECT_GT(rank.copies.size(), 0u);
  ASSERT_FALSE(rank.notes.empty());
  EXPECT_EQ(rank.notes[0], "the file is cut off or damaged; what came before is used");
}

// A recorder that finds rank-0.jsonl there writes rank-0.jsonl.2.
TEST(Load, ARankWithALaterFileIsNotJudgedByTheOlder) {
  const TemporaryFolder folder;
  const std::string text = read_text(kTraces + "ring_writes_rank0.json.gz");
  const std::string older = folder.write("rank-0.jsonl", text);
  const std::string other = folder.write("rank-1.jsonl", text);
  EXPECT_TRUE(load({older}));
  const std::string later = folder.write("rank-0.jsonl.2", text);
  EXPECT_EQ(error_of({older, other}),
            later + ": is of the same rank as " + older +
                ", by another process or a later run; move away the one that is not meant");
  EXPECT_TRUE(load({other}));
}

TEST(Load, EveryPrefixIsReadOrRefusedInOneLine) {
  const TemporaryFolder folder;
  const std::string whole = read_text(kTraces + "ring_writes_rank0.json.gz");
  for (std::size_t length = 0; length < whole.size(); length += 37) {
    const std::string path = folder.write("x_rank0.json.gz", whole.substr(0, length));
    const std::string error = error_of({path});
    if (error != "no error") {
      EXPECT_EQ(error.find(path + ": "), 0u) << error;
      EXPECT_EQ(error.find('\n'), std::string::npos);
    }
  }
}

TEST(Load, SeveralGzipMembersAreOneFile) {
  const TemporaryFolder folder;
  const std::string one = read_text(kTraces + "ring_writes_rank0.json.gz");
  const Result<FileBytes> single = read_file(kTraces + "ring_writes_rank0.json.gz");
  const Result<FileBytes> twice = read_file(folder.write("two.gz", one + one));
  ASSERT_TRUE(single && twice);
  EXPECT_EQ(twice.value().bytes, single.value().bytes + single.value().bytes);
  EXPECT_FALSE(twice.value().cut_off);
}

TEST(Load, OneLineForWhatIsNoEvidence) {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing.json");
  const std::string empty = folder.write("empty.json", "");
  const std::string other = folder.write("other.json", "{\"hello\": \"world\"}\n");
  std::string noise;
  for (int i = 0; i < 4096; ++i) {
    noise += static_cast<char>(i);
  }
  EXPECT_EQ(error_of({missing}), missing + ": No such file or directory");
  EXPECT_EQ(error_of({empty}), empty + ": empty file");
  EXPECT_EQ(error_of({other}), other + ": no evidence and no trace: it has no traceEvents");
  const std::string binary = folder.write("noise.json.gz", noise);
  EXPECT_EQ(error_of({binary}), binary + ": no evidence and no trace: it has no traceEvents");
  const std::string only_header =
      folder.write("h.json.gz", read_text(kTraces + "ring_writes_rank0.json.gz").substr(0, 10));
  EXPECT_EQ(error_of({only_header}), only_header + ": a gzip file without data");
  folder.write("folder/readme", "x");
  EXPECT_EQ(error_of({folder.path("folder")}),
            folder.path("folder") +
                ": a folder without rank-*.jsonl files (those of a case of "
                "`symmcts run` lie in OUT/evidence/CASE)");
}

TEST(Load, RankByOptionAndTwoFilesOfOneRank) {
  const std::string first = kTraces + "ring_writes_rank0.json.gz";
  const std::string second = kTraces + "ring_writes_rank1.json.gz";
  const Result<EvidenceSet> set = load({first, second}, {{{first, 1}, {second, 0}}});
  ASSERT_TRUE(set) << set.error();
  EXPECT_EQ(set.value().ranks.at(0).file, second);
  const std::string error = error_of({first, second}, {{{second, 0}}});
  EXPECT_NE(error.find("rank 0"), std::string::npos) << error;
  EXPECT_NE(error.find(second), std::string::npos) << error;
  EXPECT_EQ(error_of({first}, {{{"other", 0}}}), "other: named by --rank but not among the files");
}

TEST(Load, UnknownRankAsksForTheOption) {
  const TemporaryFolder folder;
  const std::string file = folder.write("trace.json", R"({"traceEvents":[]})");
  EXPECT_EQ(error_of({file}), file + ": does not say which rank it is; give --rank " + file + "=N");
  EXPECT_TRUE(load({file}, {{{file, 0}}}));
}

TEST(Load, UnitFolder) {
  const TemporaryFolder folder;
  folder.write("evidence/Data.A/rank-000001.jsonl", header(1));
  folder.write("evidence/Data.A/rank-000000.jsonl", header(0));
  folder.write("evidence/Data.A/machine.jsonl",
               unit(R"("case":"Data.A","ids":["SM-DATA-1"],"end":"done")"));
  folder.write("evidence/Data.B/machine.jsonl",
               unit(R"("case":"Data.B","ids":[],"end":"error","text":"no broker")"));
  const Result<std::vector<EvidenceSet>> units = load_units(folder.path("evidence"));
  ASSERT_TRUE(units) << units.error();
  ASSERT_EQ(units.value().size(), 2u);
  EXPECT_EQ(units.value()[0].unit, "Data.A");
  EXPECT_EQ(units.value()[0].ranks.size(), 2u);
  EXPECT_EQ(units.value()[0].machine.units.at(0).end, "done");
  EXPECT_TRUE(units.value()[1].ranks.empty());
  EXPECT_TRUE(load({folder.path("evidence/Data.A")}));
  EXPECT_TRUE(load_unit(folder.path("evidence/Data.A/")));
  EXPECT_FALSE(load_unit(folder.path("evidence")));
}

TEST(Load, FilesOfDifferentRunsAreRefused) {
  const TemporaryFolder folder;
  const std::string first =
      folder.write("first", header(0, R"(,"seed":7,"run":"--impl a","platform":"p")"));
  const auto beside = [&](const std::string& text) {
    const std::string second = folder.write("second", text);
    return error_of({first, second});
  };
  const std::string prefix = folder.path("second") + ":1: not of the run of " + first + ": its ";
  EXPECT_EQ(beside(header(1, R"(,"seed":7,"run":"--impl a","platform":"p")")), "no error");
  EXPECT_EQ(beside(header(1, R"(,"seed":8,"run":"--impl a","platform":"p")")),
            prefix + "seed is 8, there it is 7");
  EXPECT_EQ(beside(header(1, R"(,"seed":7,"run":"--impl b","platform":"p")")),
            prefix + "run is '--impl b', there it is '--impl a'");
  EXPECT_EQ(beside(header(1, R"(,"seed":7,"platform":"p")")),
            prefix + "run is none, there it is '--impl a'");
  EXPECT_EQ(beside(header(1, R"(,"seed":7,"run":"--impl a","platform":"q")")),
            prefix + "platform is 'q', there it is 'p'");
  EXPECT_EQ(beside(R"({"type":"header","schema":"symm-cts/evidence/1","rank":1,"world":4,)"
                   R"("clock":"virtual"})"),
            prefix + "world is 4, there it is 2");
  const std::string trace = kTraces + "ring_writes_rank1.json.gz";
  EXPECT_EQ(error_of({first, trace}), trace + ":1: not of the run of " + first +
                                          ": its clock is 'profiler', there it is 'virtual'");
}

TEST(Load, TheMachinesFileIsOfTheSameRun) {
  const TemporaryFolder folder;
  folder.write("a/rank-000000.jsonl", header(0, R"(,"run":"--impl a")"));
  folder.write("a/machine.jsonl", unit(R"("run":"--impl b","ids":[],"end":"done")"));
  EXPECT_EQ(error_of({folder.path("a")}), folder.path("a/machine.jsonl") + ": not of the run of " +
                                              folder.path("a/rank-000000.jsonl") +
                                              ": its run is '--impl b', there it is '--impl a'");
  folder.write("a/machine.jsonl", unit(R"("run":"--impl a","ids":[],"end":"done")"));
  EXPECT_TRUE(load({folder.path("a")}));
  EXPECT_TRUE(load({folder.path("a/rank-000000.jsonl"), folder.path("a/machine.jsonl")}));
  folder.write("b/machine.jsonl", unit(R"("run":"--impl a","ids":[],"end":"done")"));
  EXPECT_EQ(
      error_of({folder.path("a"), folder.path("b")}),
      folder.path("b/machine.jsonl") + ": of another unit than " + folder.path("a/machine.jsonl"));
}

}  // namespace
}  // namespace symmcts::evidence

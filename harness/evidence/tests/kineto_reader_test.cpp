#include "harness/evidence/kineto_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace symmcts::evidence {
namespace {

RankEvidence read(const std::string& text) {
  Result<RankEvidence> rank = read_kineto("t.json", text, false);
  EXPECT_TRUE(rank) << rank.error();
  return rank ? std::move(rank.value()) : RankEvidence{};
}

std::string trace(const std::string& events, const std::string& before = "",
                  const std::string& after = "") {
  return "{" + before + "\"traceEvents\": [" + events + "]" + after + "}";
}

// The shape of one copy in a recording of PyTorch 2.11 (fixtures/traces).
const char* const kUpload =
    R"j({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)",)j"
    R"j("pid":0,"tid":21,"ts":10.500,"dur":4.250,"args":{"External id":2,"device":0,)j"
    R"j("context":1,"stream":21,"correlation":12,"bytes":268435456,)j"
    R"j("memory bandwidth (GB/s)":55.3}})j";
const char* const kPeer =
    R"j({"ph":"X","cat":"gpu_memcpy","name":"Memcpy PtoP (Device -> Device)",)j"
    R"j("pid":1,"tid":25,"ts":20.000,"dur":1.001,"args":{"External id":6,"fromDevice":1,)j"
    R"j("inDevice":1,"toDevice":0,"fromContext":1,"inContext":1,"toContext":4294967295,)j"
    R"j("stream":25,"correlation":58,"bytes":67108864}})j";

TEST(Kineto, ReadsAnOrdinaryCopy) {
  const RankEvidence rank = read(trace(kUpload));
  ASSERT_EQ(rank.copies.size(), 1u);
  const Copy& copy = rank.copies[0];
  EXPECT_EQ(copy.kind, CopyKind::htod);
  EXPECT_EQ(copy.src_kind, MemoryKind::pinned);
  EXPECT_EQ(copy.dst_kind, MemoryKind::device);
  EXPECT_EQ(copy.device, 0);
  EXPECT_EQ(copy.stream, 21);
  EXPECT_EQ(copy.corr, 12);
  EXPECT_EQ(copy.bytes, 268435456);
  EXPECT_EQ(copy.start, 10500);
  EXPECT_EQ(copy.end, 14750);
  EXPECT_EQ(rank.shows.resolution, 1);
  EXPECT_FALSE(rank.shows.provenance);
  EXPECT_FALSE(rank.shows.targets);
}

TEST(Kineto, PeerCopyWithoutDeviceIsOfTheIssuingDevice) {
  const RankEvidence rank = read(trace(kPeer));
  ASSERT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.copies[0].kind, CopyKind::ptop);
  EXPECT_EQ(rank.copies[0].device, 1);
  EXPECT_EQ(rank.copies[0].src_device, 1);
  EXPECT_EQ(rank.copies[0].dst_device, 0);
}

TEST(Kineto, PeerCopyInTheOrdinaryShape) {
  std::string text = kUpload;
  text.replace(text.find("HtoD (Pinned"), 12, "PtoP (Device");
  const RankEvidence rank = read(trace(text));
  ASSERT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.copies[0].kind, CopyKind::ptop);
  EXPECT_EQ(rank.copies[0].dst_device, -1);
}

// 2020 and 2021: capital categories, "stream 7", "Pagable", a bare array, whole microseconds.
TEST(Kineto, OldFiles) {
  const RankEvidence rank =
      read(R"j([{"ph":"X","cat":"Memcpy","name":"Memcpy HtoD (Pagable -> Device)",)j"
           R"j("pid":0,"tid":"stream 7","ts":100,"dur":2,)j"
           R"j("args":{"device":0,"correlation":3,"bytes":1024,"external id":1}}])j");
  ASSERT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.copies[0].stream, 7);
  EXPECT_EQ(rank.copies[0].src_kind, MemoryKind::pageable);
  EXPECT_EQ(rank.shows.resolution, 1000);
}

TEST(Kineto, MissingCategoryIsTaken) {
  std::string text = kUpload;
  const std::string category = R"j("cat":"gpu_memcpy",)j";
  text.erase(text.find(category), category.size());
  EXPECT_EQ(read(trace(text)).copies.size(), 1u);
}

TEST(Kineto, BaseTimeAndRankMayStandOnEitherSide) {
  const std::string base = R"j("baseTimeNanoseconds": 1790857026000000000)j";
  const std::string info = R"j("distributedInfo": {"backend":"nccl","rank": 3,"world_size": 8})j";
  for (const bool first : {true, false}) {
    const RankEvidence rank = read(first ? trace(kUpload, base + "," + info + ",")
                                         : trace(kUpload, "", "," + info + "," + base));
    EXPECT_EQ(rank.header.rank, 3);
    EXPECT_EQ(rank.header.world, 8);
    EXPECT_EQ(rank.copies.at(0).start, 1790857026000010500);
  }
}

// HTA's pattern finds a rank in any argument; only distributedInfo counts.
TEST(Kineto, RankInArgumentsIsNotTheRank) {
  EXPECT_EQ(read(trace(R"j({"ph":"X","cat":"cpu_op","name":"x","args":{"rank": 5}})j")).header.rank,
            -1);
}

TEST(Kineto, JoinsCallsAndOtherWork) {
  const RankEvidence rank = read(
      trace(std::string(kUpload) +
            R"j(,{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":5,"tid":5,)j"
            R"j("ts":8.000,"dur":1.5,"args":{"cbid":41,"correlation":12}})j"
            R"j(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":21,"ts":30.0,"dur":2.0,)j"
            R"j("args":{"device":0,"stream":21,"correlation":13}})j"
            R"j(,{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":21,)j"
            R"j("ts":40.0,"dur":1.0,"args":{"device":0,"stream":21,"correlation":14,"bytes":64}})j"
            R"j(,{"ph":"X","cat":"gpu_user_annotation","name":"Memcpy HtoD (Pinned -> Device)",)j"
            R"j("pid":0,"tid":21,"ts":1,"dur":1,"args":{}})j"
            R"j(,{"ph":"f","id":12,"pid":0,"tid":21,"ts":10.5,"cat":"ac2g","name":"ac2g"})j"));
  ASSERT_EQ(rank.calls.size(), 1u);
  EXPECT_EQ(rank.calls[0].corr, 12);
  EXPECT_EQ(rank.calls[0].t1, 9500);
  EXPECT_EQ(rank.works.size(), 2u);
  EXPECT_EQ(rank.copies.size(), 1u);
}

TEST(Kineto, DuplicatesAreLeftOutAndTold) {
  const RankEvidence rank = read(trace(std::string(kUpload) + "," + kUpload + "," + kPeer));
  EXPECT_EQ(rank.copies.size(), 2u);
  ASSERT_EQ(rank.notes.size(), 1u);
  EXPECT_EQ(rank.notes[0], "1 events that occur twice left out");
}

TEST(Kineto, DamagedCopyIsCounted) {
  std::string text = kUpload;
  text.replace(text.find("10.500"), 6, "N/A");
  const RankEvidence rank = read(trace(text + "," + kPeer));
  EXPECT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.broken, 1);
  EXPECT_EQ(rank.lost_copies, 1);
}

// No profiler writes a copy of another phase or category, or one whose name is no text.
TEST(Kineto, WhatIsHalfACopyIsADamagedOne) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"X\"", "\"B\""},
                                 {"\"gpu_memcpy\"", "\"kernel\""},
                                 {"\"Memcpy HtoD (Pinned -> Device)\"", "5"},
                                 {"Memcpy HtoD (Pinned -> Device)", "Memset (Device)"}}) {
    std::string text = kUpload;
    text.replace(text.find(from), from.size(), to);
    const RankEvidence rank = read(trace(text + "," + kPeer));
    EXPECT_EQ(rank.copies.size(), 1u) << to;
    EXPECT_EQ(rank.lost_copies, 1) << to;
  }
}

TEST(Kineto, ADamagedEventThatWasNoCopyLosesNone) {
  const RankEvidence rank = read(
      trace(R"({"ph":"X","cat":"cpu_op","name":"a"b","pid":1,"tid":1,"ts":1,"dur":1,"args":{}},)" +
            std::string(kPeer)));
  EXPECT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.lost_copies, 0);
}

TEST(Kineto, TheFileEndsWithItsTrace) {
  EXPECT_EQ(read(trace(kPeer) + " \n").cut, "");
  EXPECT_EQ(read("[" + std::string(kPeer) + "]").cut, "");
  const std::string whole = trace(kPeer, "", R"(,"traceName":"x")");
  EXPECT_EQ(read(whole).cut, "");
  EXPECT_NE(read(whole.substr(0, whole.size() - 1)).cut, "");
  EXPECT_NE(read(whole + "xxxx{{{").cut, "");
  EXPECT_NE(read(whole + "}").cut, "");
  EXPECT_NE(read(whole + whole).cut, "");
}

TEST(Kineto, BandwidthThatIsNoNumberHarmsNothing) {
  std::string text = kUpload;
  text.replace(text.find("55.3"), 4, "N/A");
  const RankEvidence rank = read(trace(text));
  EXPECT_EQ(rank.copies.size(), 1u);
  EXPECT_EQ(rank.broken, 0);
}

TEST(Kineto, RocmHasNoPeerKind) {
  std::string text = kUpload;
  text.replace(text.find("(Pinned"), 7, "(Host");
  EXPECT_FALSE(read(trace(text)).shows.peer_kind);
  EXPECT_TRUE(read(trace(kUpload)).shows.peer_kind);
}

TEST(Kineto, GraphReplaysAreMarked) {
  std::string text = kUpload;
  text.insert(text.find("\"bytes\""), "\"graph id\":4,\"channel\":8,\"channel_type\":2,");
  const RankEvidence rank = read(trace(text));
  EXPECT_TRUE(rank.copies.at(0).graph);
  EXPECT_EQ(rank.copies.at(0).channel, 8);
  EXPECT_EQ(rank.copies.at(0).channel_type, 2);
}

TEST(Kineto, NoTraceIsAnErrorThatNamesTheFile) {
  const Result<RankEvidence> rank = read_kineto("dir/no.json", R"j({"hello": "world"})j", false);
  ASSERT_FALSE(rank);
  EXPECT_EQ(rank.error(), "dir/no.json: no evidence and no trace: it has no traceEvents");
}

TEST(FileName, Rank) {
  EXPECT_EQ(rank_of_file_name("a/root_writes_rank0.json.gz"), 0);
  EXPECT_EQ(rank_of_file_name("rank-000012.jsonl"), 12);
  EXPECT_EQ(rank_of_file_name("trace_rank_3.json"), 3);
  EXPECT_EQ(rank_of_file_name("worker7_step_12.1694128201553.pt.trace.json.gz"), 7);
  EXPECT_EQ(rank_of_file_name("rank5/trace.json"), -1);
  EXPECT_EQ(rank_of_file_name("rank_not_found.json.gz"), -1);
  EXPECT_EQ(rank_of_file_name("host_123.456.pt.trace.json"), -1);
}

}  // namespace
}  // namespace symmcts::evidence

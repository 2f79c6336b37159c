#include <gtest/gtest.h>

#include "harness/evidence/json_lines.hpp"

namespace symmcts::evidence {
namespace {

const std::string kHeader =
    R"({"type":"header","schema":"symm-cts/evidence/1","rank":1,"world":2,"host":0,"driver":"software","driver_version":"13.0","platform":"gb200-nvl2","seed":7,"clock":"virtual","devices":[{"ordinal":0,"uuid":"GPU-1","name":"GB200"}],"cupti_version":130001,"recorder":"0.1.0"})"
    "\n";
const std::string kFooter = R"({"type":"footer","calls":1,"copies":1,"deterministic":true})"
                            "\n";

RankEvidence read(const std::string& text) {
  Result<RankEvidence> rank = read_rank_lines("r.jsonl", text);
  EXPECT_TRUE(rank) << rank.error();
  return rank ? std::move(rank.value()) : RankEvidence{};
}

std::string error_of(const std::string& text) {
  const Result<RankEvidence> rank = read_rank_lines("r.jsonl", text);
  return rank ? "no error" : rank.error();
}

TEST(RankLines, ReadsEveryType) {
  const RankEvidence rank = read(
      kHeader +
      R"({"type":"enter","seq":1,"t":5,"name":"cuMemMap"})"
      "\n"
      R"({"type":"call","seq":1,"t0":5,"t1":9,"name":"cuMemMap","result":0,"corr":1,"args":{"mapping":3,"range":1,"offset":0,"bytes":4096,"handle":2}})"
      "\n"
      R"({"type":"call","seq":2,"t0":10,"t1":11,"name":"cuMemcpyDtoDAsync","result":0,"corr":2,"args":{"dst":{"mapping":3,"offset":16},"src":{"alloc":2,"offset":0},"bytes":64,"stream":4}})"
      "\n"
      R"({"type":"copy","corr":2,"kind":"PtoP","bytes":64,"start":20,"end":30,"device":0,"context":1,"stream":13,"channel":16,"channel_type":2,"src_kind":"device","dst_kind":"device","src_device":0,"dst_device":0,"copies":1})"
      "\n"
      R"({"type":"fill","corr":3,"bytes":8,"start":31,"end":32,"device":0,"stream":13,"channel":1,"channel_type":1})"
      "\n"
      R"({"type":"mark","t":33,"what":"check","case":"Data.X","ids":["SM-DATA-1"],"ok":false,"text":"byte 3"})"
      "\n"
      R"({"type":"dropped","records":2})"
      "\n" +
      kFooter);
  EXPECT_EQ(rank.rank(), 1);
  EXPECT_EQ(rank.header.world, 2);
  EXPECT_EQ(rank.header.seed, 7u);
  EXPECT_EQ(rank.header.driver_version, "13.0");
  EXPECT_EQ(rank.header.devices.at(0).name, "GB200");
  EXPECT_TRUE(rank.shows.provenance && rank.shows.targets && rank.shows.stream_waits);
  EXPECT_EQ(rank.enters.at(0).name, "cuMemMap");
  EXPECT_EQ(rank.calls.at(0).args.mapping, 3);
  EXPECT_EQ(rank.calls.at(1).args.dst.kind, Place::Kind::mapping);
  EXPECT_EQ(rank.calls.at(1).args.dst.number, 3);
  EXPECT_EQ(rank.calls.at(1).args.src.kind, Place::Kind::alloc);
  EXPECT_EQ(rank.copies.at(0).kind, CopyKind::ptop);
  EXPECT_EQ(rank.copies.at(0).channel, 16);
  EXPECT_EQ(rank.works.at(0).bytes, 8);
  EXPECT_FALSE(rank.marks.at(0).ok);
  EXPECT_EQ(rank.dropped, 2);
  ASSERT_TRUE(rank.footer);
  EXPECT_TRUE(rank.footer->deterministic);
}

TEST(RankLines, BatchOperations) {
  const RankEvidence rank = read(
      kHeader +
      R"({"type":"call","seq":1,"t0":1,"t1":2,"name":"cuStreamBatchMemOp","result":0,"corr":1,"args":{"ops":[{"op":"write32","at":{"mapping":1,"offset":8},"value":3,"flags":0},{"op":"barrier"},{"op":"wait64","at":{},"value":18446744073709551615,"flags":0}],"stream":2}})"
      "\n"
      R"({"type":"call","seq":2,"t0":3,"t1":4,"name":"cuMemcpyBatchAsync","result":0,"corr":2,"args":{"dst":{},"src":{},"bytes":8,"ops":[{"dst":{"mapping":5,"offset":0},"src":{},"bytes":4},{"dst":{"mapping":5,"offset":4},"src":{},"bytes":4}],"stream":2}})"
      "\n");
  ASSERT_EQ(rank.calls.at(0).args.words.size(), 2u);
  EXPECT_TRUE(rank.calls[0].args.words[0].write);
  EXPECT_FALSE(rank.calls[0].args.words[1].write);
  EXPECT_EQ(rank.calls[0].args.words[1].value, ~std::uint64_t{0});
  ASSERT_EQ(rank.calls.at(1).args.batch.size(), 2u);
  EXPECT_EQ(rank.calls[1].args.batch[1].number, 5);
}

// A rank that was killed while it wrote.
TEST(RankLines, CutOffLastLineKeepsEverythingBefore) {
  const std::string mark = R"({"type":"mark","t":1,"what":"phase","phase":"bind"})"
                           "\n";
  const std::string text = kHeader + mark + mark;
  const std::size_t before = kHeader.size() + mark.size();
  for (std::size_t length = before + 1; length < text.size() - 1; ++length) {
    const RankEvidence rank = read(text.substr(0, length));
    EXPECT_EQ(rank.marks.size(), 1u) << length;
    ASSERT_EQ(rank.notes.size(), 2u) << length;
    EXPECT_EQ(rank.notes[0], "line 3, the last, is cut off and left out");
    EXPECT_EQ(rank.notes[1], "no footer: the rank did not end by itself");
  }
}

TEST(RankLines, WholeLastLineWithoutItsEndIsTaken) {
  std::string text = kHeader + kFooter;
  text.pop_back();
  EXPECT_TRUE(read(text).footer);
}

TEST(RankLines, GarbageNamesFileAndLine) {
  EXPECT_EQ(error_of(kHeader + "garbage\n" + kFooter), "r.jsonl:2: not a JSON object");
  EXPECT_EQ(error_of(kHeader + "[1]\n"), "r.jsonl:2: not a JSON object");
  EXPECT_EQ(error_of(kHeader + R"({"t":1})"
                               "\n"),
            "r.jsonl:2: no 'type'");
  EXPECT_EQ(error_of(kHeader + R"({"type":"novelty"})"
                               "\n"),
            "r.jsonl:2: unknown type 'novelty'");
  EXPECT_EQ(error_of(kHeader + R"({"type":"copy","corr":1,"kind":"DtoD","start":1,"end":2})"
                               "\n"),
            "r.jsonl:2: no 'bytes'");
  EXPECT_EQ(error_of(kHeader + R"({"type":"enter","seq":"x","t":1,"name":"n"})"
                               "\n"),
            "r.jsonl:2: 'seq' is not an integer");
  EXPECT_EQ(error_of(kFooter), "r.jsonl:1: the first line is no header");
}

TEST(RankLines, NumbersOutOfRangeAreRefused) {
  const auto copy = [](const std::string& start, const std::string& copies) {
    return kHeader + R"({"type":"copy","corr":1,"kind":"DtoD","bytes":1,"end":2,"start":)" + start +
           R"(,"copies":)" + copies + "}\n";
  };
  EXPECT_EQ(error_of(copy("1", "1")), "no error");
  EXPECT_EQ(error_of(copy("-1", "1")), "r.jsonl:2: 'start' is out of range");
  EXPECT_EQ(error_of(copy("9223372036854775807", "1")), "r.jsonl:2: 'start' is out of range");
  EXPECT_EQ(error_of(copy("1", "0")), "r.jsonl:2: 'copies' is out of range");
}

TEST(RankLines, OtherSchemaIsRefused) {
  std::string text = kHeader;
  text.replace(text.find("evidence/1"), 10, "evidence/9");
  EXPECT_EQ(error_of(text), "r.jsonl:1: schema 'symm-cts/evidence/9' is not symm-cts/evidence/1");
}

TEST(RankLines, UnknownKeysAreIgnored) {
  EXPECT_EQ(read(kHeader + R"({"type":"mark","t":1,"what":"phase","phase":"x","new":[1,2]})"
                           "\n")
                .marks.size(),
            1u);
}

TEST(MachineLines, ReadsAHang) {
  const Result<MachineEvidence> machine = read_machine_lines(
      "m.jsonl",
      R"({"type":"hang","source":"platform","case":"Lifetime.X","ranks":[{"rank":0,"phase":"bind","where":"cuMulticastBindMem"}],"objects":[{"creator":0,"devices":2,"missing":[1,"gpu 3"],"empty":true}],"text":"t"})"
      "\n"
      R"({"type":"exit","rank":1,"case":"Lifetime.X","signal":9})"
      "\n"
      R"({"type":"unit","case":"Lifetime.X","ids":["SM-LIFE-1"],"end":"hang"})"
      "\n");
  ASSERT_TRUE(machine) << machine.error();
  const Hang& hang = machine.value().hangs.at(0);
  EXPECT_EQ(hang.ranks.at(0).where, "cuMulticastBindMem");
  EXPECT_EQ(hang.objects.at(0).creator, "rank 0");
  EXPECT_EQ(hang.objects.at(0).missing, (std::vector<std::string>{"1", "gpu 3"}));
  EXPECT_TRUE(hang.objects.at(0).empty);
  EXPECT_EQ(machine.value().exits.at(0).signal, 9);
  EXPECT_EQ(machine.value().units.at(0).end, "hang");
}

TEST(MachineLines, ReadsMisuseAndLastCalls) {
  const Result<MachineEvidence> machine = read_machine_lines(
      "m.jsonl",
      R"({"type":"hang","source":"platform","ranks":[{"rank":0,"phase":"bind","where":"cuMemMap","calls":"cuMemCreate, cuMemMap"}],"objects":[]})"
      "\n"
      R"({"type":"misuse","rank":3,"t":17,"kind":"leak","what":"stream","call":"cuStreamCreate","count":2,"text":"left at exit: 2 streams"})"
      "\n");
  ASSERT_TRUE(machine) << machine.error();
  EXPECT_EQ(machine.value().hangs.at(0).ranks.at(0).calls, "cuMemCreate, cuMemMap");
  const Misuse& misuse = machine.value().misuses.at(0);
  EXPECT_EQ(misuse.rank, 3);
  EXPECT_EQ(misuse.t, 17);
  EXPECT_EQ(misuse.kind, "leak");
  EXPECT_EQ(misuse.what, "stream");
  EXPECT_EQ(misuse.call, "cuStreamCreate");
  EXPECT_EQ(misuse.count, 2);
  EXPECT_EQ(misuse.text, "left at exit: 2 streams");
  EXPECT_FALSE(read_machine_lines("m.jsonl", R"({"type":"misuse","kind":"leak"})"
                                             "\n"));
}

}  // namespace
}  // namespace symmcts::evidence

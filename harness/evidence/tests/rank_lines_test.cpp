#include <gtest/gtest.h>

#include "harness/evidence/json_lines.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::evidence {
namespace {

const std::string kHeader =
    R"({"type":"header","schema":"symm-cts/evidence/1","rank":1,"world":2,"host":0,"driver":"software","driver_version":"13.0","platform":"gb200-nvl2","seed":7,"clock":"virtual","devices":[{"ordinal":0,"uuid":"GPU-1","name":"GB200"}],"cupti_version":130001,"recorder":"0.1.0"})"
    "\n";

// `lines` with `last` as their sealed last line.
std::string seal(const std::string& lines, const std::string& last) {
  Digest digest;
  digest.add(lines);
  return lines + sealed(digest, last) + "\n";
}

struct Counts {
  int seq = 0, enters = 0, calls = 0, copies = 0, fills = 0, marks = 0;
};

std::string whole(const std::string& lines, const Counts& counts) {
  const auto member = [](const char* key, int value) {
    return ",\"" + std::string(key) + "\":" + std::to_string(value);
  };
  return seal(lines, R"({"type":"footer")" + member("seq", counts.seq) +
                         member("enters", counts.enters) + member("calls", counts.calls) +
                         member("copies", counts.copies) + member("fills", counts.fills) +
                         member("marks", counts.marks) + R"(,"deterministic":true})");
}

std::string call(int seq) {
  const std::string n = std::to_string(seq);
  return R"({"type":"call","seq":)" + n + R"(,"t0":)" + n + R"(,"t1":)" + n +
         R"(,"name":"cuMemMap","result":0,"corr":)" + n + "}\n";
}

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
  const RankEvidence rank = read(whole(
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
          "\n",
      {.seq = 2, .enters = 1, .calls = 2, .copies = 1, .fills = 1, .marks = 1}));
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
  std::string text = whole(kHeader, {});
  text.pop_back();
  EXPECT_TRUE(read(text).footer);
}

TEST(RankLines, AFileWithAFooterIsWhole) {
  const RankEvidence rank = read(whole(kHeader + call(2) + call(1), {.seq = 2, .calls = 2}));
  EXPECT_EQ(rank.cut, "");
  EXPECT_TRUE(rank.notes.empty());
  EXPECT_EQ(read(kHeader).cut, "no footer: the rank did not end by itself");
}

// Another thread was in a driver call when the program ended.
TEST(RankLines, ACallThatNeverCameBackIsMissed) {
  EXPECT_EQ(read(whole(kHeader + call(1) + call(3), {.seq = 3, .calls = 2})).cut,
            "1 call had not come back when the rank ended");
}

// Sealed again by whoever changed it: only what contradicts itself can show.
TEST(RankLines, ContradictionsNameTheLine) {
  EXPECT_EQ(error_of(whole(kHeader + call(1) + call(1), {.seq = 2, .calls = 2})),
            "r.jsonl:3: a second call 1");
  EXPECT_EQ(error_of(whole(kHeader + call(0), {.seq = 1, .calls = 1})),
            "r.jsonl:2: 'seq' is out of range");
  EXPECT_EQ(error_of(whole(kHeader + call(5), {.seq = 4, .calls = 1})),
            "r.jsonl:3: the footer knows of 4 calls, the file holds number 5");
  EXPECT_EQ(error_of(whole(kHeader + call(1), {.seq = 2, .calls = 2})),
            "r.jsonl:3: the footer counts 2 lines of type call, the file holds 1");
  EXPECT_EQ(error_of(whole(kHeader, {.copies = 3})),
            "r.jsonl:2: the footer counts 3 lines of type copy, the file holds 0");
  EXPECT_EQ(error_of(kHeader + whole(kHeader, {})), "r.jsonl:2: a second header");
  EXPECT_EQ(error_of(whole(kHeader, {}) + call(1)), "r.jsonl:3: a line after the footer");
  EXPECT_EQ(error_of(whole(kHeader, {}) + std::string(7, '\0')),
            "r.jsonl:2: the file goes on after its footer");
  std::string header = kHeader;
  header.replace(header.find("\"world\":2"), 9, "\"world\":1");
  EXPECT_EQ(error_of(header), "r.jsonl:1: rank 1 of a world of 1");
}

TEST(RankLines, TheDigestIsOfEveryByte) {
  const std::string text = whole(kHeader + call(1), {.seq = 1, .calls = 1});
  std::string changed = text;
  changed.replace(changed.find("cuMemMap"), 8, "cuMemMaq");
  EXPECT_EQ(error_of(changed),
            "r.jsonl:3: the file is not as it was written: its digest is another");
  changed = text;
  changed.replace(changed.find("\"deterministic\":true"), 20, "\"deterministic\":null");
  EXPECT_EQ(error_of(changed),
            "r.jsonl:3: the file is not as it was written: its digest is another");
  changed = text;
  changed.erase(changed.find(",\"digest\""), 28);
  EXPECT_EQ(error_of(changed), "r.jsonl:3: the footer has no digest at its end");
}

TEST(RankLines, GarbageNamesFileAndLine) {
  EXPECT_EQ(error_of(whole(kHeader + "garbage\n", {})), "r.jsonl:2: not a JSON object");
  EXPECT_EQ(error_of(whole(kHeader + std::string(1, '\0') + "\n", {})),
            "r.jsonl:2: not a JSON object");
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
  EXPECT_EQ(error_of(whole("", {})), "r.jsonl:1: the first line is no header");
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
      seal(
          R"({"type":"hang","source":"platform","case":"Lifetime.X","ranks":[{"rank":0,"phase":"bind","where":"cuMulticastBindMem"}],"objects":[{"creator":0,"devices":2,"missing":[1,"gpu 3"],"empty":true}],"text":"t"})"
          "\n"
          R"({"type":"exit","rank":1,"case":"Lifetime.X","signal":9})"
          "\n",
          R"({"type":"unit","case":"Lifetime.X","run":"--impl x","ids":["SM-LIFE-1"],"end":"hang"})"));
  ASSERT_TRUE(machine) << machine.error();
  const Hang& hang = machine.value().hangs.at(0);
  EXPECT_EQ(hang.ranks.at(0).where, "cuMulticastBindMem");
  EXPECT_EQ(hang.objects.at(0).creator, "rank 0");
  EXPECT_EQ(hang.objects.at(0).missing, (std::vector<std::string>{"1", "gpu 3"}));
  EXPECT_TRUE(hang.objects.at(0).empty);
  EXPECT_EQ(machine.value().exits.at(0).signal, 9);
  EXPECT_EQ(machine.value().units.at(0).end, "hang");
  EXPECT_EQ(machine.value().units.at(0).run, "--impl x");
  EXPECT_FALSE(machine.value().cut);
}

TEST(MachineLines, ReadsARace) {
  const std::string race =
      R"({"type":"race","t":9,"class":"certain","accesses":[{"rank":0,"stream":13,"call":"c","corr":7,"access":"write"},{"rank":1,"stream":14,"call":"d","corr":9,"access":"read"}],"memory":"device","owner":1,"offset":64,"bytes":16,"count":2,"text":"t"})"
      "\n"
      R"({"type":"race-check","accesses":12,"whole":true})"
      "\n";
  const std::string unit = R"({"type":"unit","case":"A.B","ids":[],"end":"done"})";
  const Result<MachineEvidence> machine = read_machine_lines("m.jsonl", seal(race, unit));
  ASSERT_TRUE(machine) << machine.error();
  const Race& read = machine.value().races.at(0);
  EXPECT_TRUE(read.certain);
  EXPECT_EQ(read.accesses.at(1).rank, 1);
  EXPECT_EQ(read.accesses.at(1).stream, 14);
  EXPECT_EQ(read.accesses.at(0).access, "write");
  EXPECT_EQ(read.bytes, 16);
  EXPECT_EQ(read.count, 2);
  EXPECT_EQ(machine.value().race_checks.at(0).accesses, 12);
  EXPECT_TRUE(machine.value().race_checks.at(0).whole);

  std::string other = race;
  other.replace(other.find("certain"), 7, "perhaps");
  EXPECT_EQ(read_machine_lines("m.jsonl", seal(other, unit)).error(),
            "m.jsonl:1: 'class' is neither certain nor suspect");
}

TEST(MachineLines, TheUnitsLineEndsAndSealsTheFile) {
  const auto error_of_machine = [](const std::string& text) {
    const Result<MachineEvidence> machine = read_machine_lines("m.jsonl", text);
    return machine ? std::string(machine.value().cut ? "cut" : "whole") : machine.error();
  };
  const std::string exit = R"({"type":"exit","rank":1,"case":"X.Y","code":0})"
                           "\n";
  const std::string unit = R"({"type":"unit","case":"X.Y","ids":[],"end":"done"})";
  const std::string text = seal(exit, unit);
  EXPECT_EQ(error_of_machine(text), "whole");
  EXPECT_EQ(error_of_machine(exit), "cut");
  EXPECT_EQ(error_of_machine(text.substr(0, text.size() - 5)), "cut");
  EXPECT_EQ(error_of_machine(text + exit), "m.jsonl:3: a line after the unit's");
  EXPECT_EQ(error_of_machine(text + "{"), "m.jsonl:2: the file goes on after the unit's line");
  EXPECT_EQ(error_of_machine(exit + unit), "m.jsonl:2: the unit's line has no digest at its end");
  std::string changed = text;
  changed.replace(changed.find("done"), 4, "hang");
  EXPECT_EQ(error_of_machine(changed),
            "m.jsonl:2: the file is not as it was written: its digest is another");
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

TEST(MachineLines, ReadsWhatBecameOfTheFaultsOfAScenario) {
  const auto read = [](const std::string& line) {
    return read_machine_lines("m.jsonl", line + "\n");
  };
  const std::string fired =
      R"({"type":"fault","rank":1,"t":17,"entry":"fail[0]","kind":"fail","when":"before",)"
      R"("at":"cuMemMap","number":2,"code":802,"text":"rank 1: cuMemMap, call 2, fails"})";
  const Result<MachineEvidence> machine =
      read(fired + "\n" +
           R"({"type":"fault","rank":0,"t":null,"entry":"kill[0]","kind":"kill","when":"phase",)"
           R"("at":"bind","number":1})");
  ASSERT_TRUE(machine) << machine.error();
  ASSERT_EQ(machine.value().faults.size(), 2u);
  const ScenarioFault& fault = machine.value().faults[0];
  EXPECT_TRUE(fault.came_to_be());
  EXPECT_EQ(fault.rank, 1);
  EXPECT_EQ(fault.t, 17);
  EXPECT_EQ(fault.entry, "fail[0]");
  EXPECT_EQ(fault.kind, "fail");
  EXPECT_EQ(fault.when, "before");
  EXPECT_EQ(fault.at, "cuMemMap");
  EXPECT_EQ(fault.number, 2);
  EXPECT_EQ(fault.code, 802);
  EXPECT_EQ(fault.text, "rank 1: cuMemMap, call 2, fails");
  EXPECT_FALSE(machine.value().faults[1].came_to_be());
  std::string other = fired;
  other.replace(other.find("\"kind\":\"fail\""), 13, R"("kind":"fall")");
  EXPECT_EQ(read(other).error(), "m.jsonl:1: unknown kind of fault 'fall'");
  EXPECT_FALSE(read(R"({"type":"fault","rank":1,"t":17,"kind":"fail"})"));
}

}  // namespace
}  // namespace symmcts::evidence

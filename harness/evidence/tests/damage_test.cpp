// Whatever bytes a file holds: it is read or refused in one line, and nothing worse.
#include <gtest/gtest.h>

#include <random>

#include "harness/evidence/file_bytes.hpp"
#include "harness/evidence/json_lines.hpp"
#include "harness/evidence/kineto_reader.hpp"

namespace symmcts::evidence {
namespace {

constexpr int kRounds = 300;

// Flips, removes, doubles and inserts bytes; those that mean something to a JSON reader above all.
std::string damaged(std::string text, std::mt19937& draw) {
  const std::string telling = "\"{}[],:\\\n\x01\xff-9e";
  for (std::uint32_t changes = 1 + draw() % 8; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = draw() % text.size();
    switch (draw() % 4) {
      case 0:
        text[at] = telling[draw() % telling.size()];
        break;
      case 1:
        text.erase(at, 1 + draw() % 40);
        break;
      case 2:
        text.insert(at, text.substr(draw() % text.size(), draw() % 200));
        break;
      default:
        text.insert(at, 1, telling[draw() % telling.size()]);
        break;
    }
  }
  return text;
}

template <typename T>
void expect_one_line(const Result<T>& result) {
  if (!result) {
    EXPECT_EQ(result.error().find("file:"), 0u) << result.error();
    EXPECT_EQ(result.error().find('\n'), std::string::npos) << result.error();
  }
}

TEST(Damage, OfATrace) {
  const Result<FileBytes> file =
      read_file(SYMMCTS_SOURCE_DIR "/fixtures/traces/kineto-2xh200/ring_writes_rank0.json.gz");
  ASSERT_TRUE(file) << file.error();
  std::mt19937 draw(7);
  int read = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = damaged(file.value().bytes, draw);
    const Result<RankEvidence> rank = read_kineto("file", text, false);
    expect_one_line(rank);
    read += rank ? 1 : 0;
  }
  EXPECT_GT(read, kRounds / 2);  // most damage costs an event, not the file
}

TEST(Damage, OfOurOwnLines) {
  const std::string lines =
      R"({"type":"header","schema":"symm-cts/evidence/1","rank":0,"world":2,"clock":"virtual","devices":[{"ordinal":0,"uuid":"u","name":"n"}]})"
      "\n"
      R"({"type":"call","seq":1,"t0":1,"t1":2,"name":"cuMemMap","result":0,"corr":1,"args":{"mapping":1,"range":1,"offset":0,"bytes":4096,"handle":2}})"
      "\n"
      R"({"type":"call","seq":2,"t0":3,"t1":4,"name":"cuStreamBatchMemOp","result":0,"corr":2,"args":{"ops":[{"op":"wait32","at":{"mapping":1,"offset":0},"value":7}],"stream":1}})"
      "\n"
      R"({"type":"copy","corr":2,"kind":"PtoP","bytes":64,"start":20,"end":30,"device":0,"copies":1})"
      "\n"
      R"({"type":"mark","t":33,"what":"check","case":"A.B","ids":["SM-DATA-1"],"ok":true,"text":"t"})"
      "\n"
      R"({"type":"footer","calls":1,"copies":1,"deterministic":true})"
      "\n";
  std::mt19937 draw(7);
  for (int round = 0; round < kRounds; ++round) {
    const Result<RankEvidence> rank = read_rank_lines("file", damaged(lines, draw));
    expect_one_line(rank);
  }
}

TEST(Damage, OfMachineLines) {
  const std::string lines =
      R"({"type":"hang","source":"platform","case":"A.B","ranks":[{"rank":0,"phase":"p","where":"w"}],"objects":[{"creator":0,"devices":2,"missing":[1],"empty":true}],"text":"t"})"
      "\n"
      R"({"type":"race","t":9,"class":"suspect","accesses":[{"rank":0,"stream":13,"call":"c","corr":7,"access":"write","t":8},{"rank":1,"stream":14,"call":"d","corr":9,"access":"read","t":9}],"memory":"device","owner":1,"offset":64,"bytes":16,"count":2,"text":"t"})"
      "\n"
      R"({"type":"race-check","accesses":12,"whole":true})"
      "\n"
      R"({"type":"exit","rank":0,"case":"A.B","signal":9})"
      "\n"
      R"({"type":"unit","case":"A.B","ids":["SM-LIFE-1"],"end":"hang"})"
      "\n";
  std::mt19937 draw(7);
  for (int round = 0; round < kRounds; ++round) {
    const Result<MachineEvidence> machine = read_machine_lines("file", damaged(lines, draw));
    expect_one_line(machine);
  }
}

}  // namespace
}  // namespace symmcts::evidence

#include "harness/evidence/canonical.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "harness/evidence/tests/temporary_folder.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::evidence {
namespace {

const std::string kHeader =
    R"({"type":"header","schema":"symm-cts/evidence/1","rank":0,"clock":"virtual"})";

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

// The lines, and the footer that a recorder would write after them.
std::string with_footer(std::vector<std::string> lines) {
  Digest digest;
  digest.add(join(lines));
  lines.push_back(sealed(digest, R"({"type":"footer","calls":1,"deterministic":true})"));
  return join(lines);
}

TEST(Canonical, PutsLinesInOrder) {
  const TemporaryFolder folder;
  const std::string call = R"({"type":"call","seq":2,"t0":10,"t1":40,"name":"b","result":0})";
  const std::string enter = R"({"type":"enter","seq":2,"t":10,"name":"b"})";
  const std::string mark = R"({"type":"mark","t":40,"what":"phase","phase":"x"})";
  const std::string early =
      R"({"type":"copy","corr":1,"kind":"HtoD","bytes":1,"start":10,"end":90})";
  const std::string late = R"({"type":"fill","corr":3,"bytes":1,"start":50,"end":60})";
  const std::string dropped = R"({"type":"dropped","records":1})";
  const std::string raw =
      folder.write("raw", with_footer({kHeader, enter, call, mark, late, dropped, early}));
  const Status status = canonicalize(raw, folder.path("out"));
  ASSERT_TRUE(status) << status.error();
  EXPECT_EQ(read_text(folder.path("out")),
            with_footer({kHeader, enter, call, early, mark, late, dropped}));
}

// Or else a file from which lines were lost would come out as whole.
TEST(Canonical, RefusesAFooterThatIsNotOfTheseLines) {
  const TemporaryFolder folder;
  const std::string mark = R"({"type":"mark","t":40,"what":"phase","phase":"x"})";
  const std::string whole = with_footer({kHeader, mark});
  for (const std::string& text :
       {kHeader + "\n" + whole.substr(whole.rfind('\n', whole.size() - 2) + 1), whole + mark + "\n",
        join({kHeader, R"({"type":"footer","calls":0})"})}) {
    const std::string file = folder.write("rank", text);
    const Status status = canonicalize(file, file);
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().find(file + ":"), 0u) << status.error();
    EXPECT_NE(status.error().find("the lines are not those that the footer was written for"),
              std::string::npos);
    EXPECT_EQ(read_text(file), text);
  }
}

// Activity records come when a buffer is flushed, which no seed decides.
TEST(Canonical, OrderOfFlushesDoesNotMatter) {
  const TemporaryFolder folder;
  std::vector<std::string> records;
  for (int i = 0; i < 20; ++i) {
    records.push_back(R"({"type":"copy","corr":)" + std::to_string(i) +
                      R"(,"kind":"DtoD","bytes":1,"start":)" + std::to_string(i / 3) +
                      R"(,"end":99})");
  }
  std::mt19937 draw(1);
  std::string first;
  for (int round = 0; round < 10; ++round) {
    std::shuffle(records.begin(), records.end(), draw);
    std::vector<std::string> lines = records;
    lines.insert(lines.begin(), kHeader);
    const std::string file = folder.write("rank", join(lines));
    ASSERT_TRUE(canonicalize(file, file));
    const std::string text = read_text(file);
    first = round == 0 ? text : first;
    EXPECT_EQ(text, first);
  }
}

TEST(Canonical, IsItsOwnFixedPoint) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("rank", join({kHeader, R"({"type":"mark","t":5,"what":"phase","phase":"b"})",
                                 R"({"type":"mark","t":5,"what":"phase","phase":"a"})"}));
  const std::string before = read_text(file);
  ASSERT_TRUE(canonicalize(file, file));
  EXPECT_EQ(read_text(file), before);  // host lines of one time stay as they were written
}

TEST(Canonical, CutOffLastLineIsLeftOut) {
  const TemporaryFolder folder;
  const std::string file = folder.write("rank", kHeader + "\n{\"type\":\"ma");
  ASSERT_TRUE(canonicalize(file, file));
  EXPECT_EQ(read_text(file), kHeader + "\n");
}

TEST(Canonical, RefusesWhatIsNoLineAndLeavesTheFile) {
  const TemporaryFolder folder;
  const std::string text = kHeader + "\nnonsense\n";
  const std::string file = folder.write("rank", text);
  const Status status = canonicalize(file, file);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), file + ":2: no line of the schema");
  EXPECT_EQ(read_text(file), text);
  EXPECT_FALSE(canonicalize(folder.path("missing"), folder.path("out")));
}

}  // namespace
}  // namespace symmcts::evidence

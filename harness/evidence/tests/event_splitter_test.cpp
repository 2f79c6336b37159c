#include "harness/evidence/event_splitter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace symmcts::evidence {
namespace {

struct Cut {
  std::vector<std::string> events;
  std::int64_t broken = 0;
  bool found = false;
  bool cut_off = false;
  std::string after;
};

Cut cut(const std::string& text) {
  EventSplitter splitter(text);
  Cut out;
  std::string_view event;
  while (splitter.next(event)) {
    out.events.emplace_back(event);
  }
  out.broken = splitter.broken();
  out.found = splitter.found();
  out.cut_off = splitter.cut_off();
  out.after = splitter.after();
  return out;
}

TEST(EventSplitter, CutsAnUndamagedTrace) {
  const Cut got = cut(
      R"({"schemaVersion": 1, "traceEvents": [ {"a": {"b": "}"}}, {"c": 1} ], "traceName": "x"})");
  EXPECT_EQ(got.events, (std::vector<std::string>{R"({"a": {"b": "}"}})", R"({"c": 1})"}));
  EXPECT_EQ(got.broken, 0);
  EXPECT_FALSE(got.cut_off);
  EXPECT_EQ(got.after, R"(, "traceName": "x"})");
}

TEST(EventSplitter, TakesATopLevelArray) {
  EXPECT_EQ(cut(R"([{"ph":"X"},{"ph":"M"}])").events.size(), 2u);
}

TEST(EventSplitter, KeyWithinAStringIsNoArray) {
  const Cut got = cut(R"({"note": "\"traceEvents\" is [", "traceEvents": [{"a":1}]})");
  EXPECT_EQ(got.events.size(), 1u);
}

TEST(EventSplitter, FindsNothingInOtherJson) {
  for (const char* text :
       {"", "{}", R"({"hello": "world"})", "[1,2]", "[]", "plain text", R"({"traceEvents": 7})"}) {
    EXPECT_FALSE(cut(text).found) << text;
  }
}

// pytorch#113001, #146900: a bare quote in a name swaps inside and outside of strings.
TEST(EventSplitter, BareQuoteCostsOnlyItsEvent) {
  for (const char* end : {R"("bytes": 5}})", R"("text": "last"}})"}) {
    const std::string bad = R"({"ph":"X","name":"a"b","args":{)" + std::string(end);
    const Cut got = cut(R"({"traceEvents":[{"n":1},)" + bad + ",\n {\"n\":2},{\"n\":3}]}");
    EXPECT_EQ(got.events, (std::vector<std::string>{R"({"n":1})", R"({"n":2})", R"({"n":3})"}))
        << bad;
    EXPECT_EQ(got.broken, 1);
    EXPECT_FALSE(got.cut_off);
  }
}

// Braces in kernel names: C++ lambdas are printed as "{lambda()#1}, {lambda()#2}".
TEST(EventSplitter, BracesInNamesAreText) {
  const Cut got = cut(R"({"traceEvents":[{"name":"f<{lambda()#1}, {lambda()#2}>"},{"n":2}]})");
  EXPECT_EQ(got.events.size(), 2u);
  EXPECT_EQ(got.broken, 0);
}

TEST(EventSplitter, CutOffKeepsEveryWholeEvent) {
  const std::string whole = R"({"traceEvents":[{"n":1},{"n":2},{"name":"abc","args":{"x":1}}]})";
  const std::size_t third = whole.find(R"({"name")");
  for (std::size_t length = third; length < whole.size() - 2; ++length) {
    const Cut got = cut(whole.substr(0, length));
    EXPECT_TRUE(got.cut_off) << length;
    EXPECT_GE(got.events.size(), 2u) << length;
  }
}

TEST(EventSplitter, EscapedQuotesAndTrailingBackslash) {
  EXPECT_EQ(cut(R"({"traceEvents":[{"n":"a\"b\\"},{"n":2}]})").events.size(), 2u);
  EXPECT_TRUE(cut("{\"traceEvents\":[{\"n\":\"a\\").cut_off);
}

}  // namespace
}  // namespace symmcts::evidence

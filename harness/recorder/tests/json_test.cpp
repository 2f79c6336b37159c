#include "harness/recorder/json.hpp"

#include <gtest/gtest.h>

namespace symmcts::recorder {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  JsonObject object;
  object.text("type", "mark").number("t", 18446744073709551615u).integer("rank", -1);
  object.flag("ok", false).null("seed").raw("at", "{}");
  EXPECT_EQ(object.take(),
            R"({"type":"mark","t":18446744073709551615,"rank":-1,"ok":false,"seed":null,"at":{}})");
  EXPECT_EQ(object.take(), "{}");
}

TEST(Json, EscapesWhatAStringCannotHold) {
  EXPECT_EQ(json_string("a\"b\\c\nd\x01"), R"("a\"b\\c\u000ad\u0001")");
}

TEST(Json, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(json_string("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_EQ(json_string("\xFFx\xC3"), "\"?x?\"");
  EXPECT_EQ(json_string("\xC0\xAF"), "\"??\"");            // overlong slash
  EXPECT_EQ(json_string("\xED\xA0\x80"), "\"???\"");       // surrogate
  EXPECT_EQ(json_string("\xF4\x90\x80\x80"), "\"????\"");  // beyond the last code point
}

TEST(Json, ArraysHoldWholeValues) {
  EXPECT_EQ(JsonArray().number(1).raw("{\"a\":2}").take(), R"([1,{"a":2}])");
  EXPECT_EQ(JsonArray().take(), "[]");
}

TEST(Json, FindsValuesOfAFlatObject) {
  const char* info = R"({"profile":"gb200-nvl2", "seed": 7 ,"deterministic":true})";
  EXPECT_EQ(json_value(info, "profile"), "\"gb200-nvl2\"");
  EXPECT_EQ(json_value(info, "seed"), "7");
  EXPECT_EQ(json_value(info, "deterministic"), "true");
  EXPECT_EQ(json_value(info, "host"), "");
  EXPECT_EQ(json_value("", "seed"), "");
}

}  // namespace
}  // namespace symmcts::recorder

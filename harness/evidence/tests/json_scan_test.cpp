#include "harness/evidence/json_scan.hpp"

#include <gtest/gtest.h>

#include <map>

namespace symmcts::evidence {
namespace {

std::map<std::string, std::string> members(std::string_view text, bool* damaged = nullptr) {
  std::map<std::string, std::string> out;
  ObjectScanner scanner(text);
  std::string_view key;
  JsonValue value;
  while (scanner.next(key, value)) {
    out[std::string(key)] = std::string(value.text);
  }
  if (damaged != nullptr) {
    *damaged = scanner.damaged();
  }
  return out;
}

TEST(ObjectScanner, ReadsMembersOfEveryKind) {
  bool damaged = true;
  const auto got =
      members(R"({ "a": 1, "b" : "x, }\"y", "c":{"d":[1,{"e":"}"}]}, "f":[]})", &damaged);
  EXPECT_EQ(got,
            (std::map<std::string, std::string>{
                {"a", "1"}, {"b", R"(x, }\"y)"}, {"c", R"({"d":[1,{"e":"}"}]})"}, {"f", "[]"}}));
  EXPECT_FALSE(damaged);
}

// Each kind of damage was seen in a public issue (facts/traces, broken files).
TEST(ObjectScanner, ForgivesWhatProfilersWrote) {
  bool damaged = true;
  EXPECT_EQ(members("{\"p\": \"C:\\Users\\x\", \"n\": N/A, \"m\": NaN, \"c\": \"a\x01\nb\", "
                    "\"u\": \"\xff\xfe\", }",
                    &damaged)
                .size(),
            5u);
  EXPECT_FALSE(damaged);
}

TEST(ObjectScanner, ReportsABareQuoteInsideAString) {
  bool damaged = false;
  members(R"({"name": "a"b"c", "bytes": 4})", &damaged);
  EXPECT_TRUE(damaged);
}

TEST(ObjectScanner, ReportsWhatIsCutOffOrNoObject) {
  for (const char* text :
       {R"({"a": 1)", R"({"a")", R"({"a": "b)", R"({"a": {"b": 1})", "", "[1]", "7"}) {
    bool damaged = false;
    members(text, &damaged);
    EXPECT_TRUE(damaged) << text;
  }
}

std::optional<std::int64_t> ns(std::string_view text, bool* fraction = nullptr) {
  return nanoseconds_of_us({JsonValue::Kind::bare, text}, fraction);
}

// A double has 53 bits: 1694128201428006.123 us do not fit, and 5177653419607.380 barely.
TEST(Nanoseconds, KeepsEveryDigit) {
  bool fraction = false;
  EXPECT_EQ(ns("1694128201428006", &fraction), 1694128201428006000);
  EXPECT_FALSE(fraction);
  EXPECT_EQ(ns("1694128201428006.123", &fraction), 1694128201428006123);
  EXPECT_TRUE(fraction);
  EXPECT_EQ(ns("5177653419607.380"), 5177653419607380);
  EXPECT_EQ(ns("0.5"), 500);
  EXPECT_EQ(ns("-0.5"), -500);
  EXPECT_EQ(ns("1.0005"), 1001);
}

TEST(Nanoseconds, AFractionOfZeroIsNone) {
  bool fraction = false;
  EXPECT_EQ(ns("17.0", &fraction), 17000);
  EXPECT_FALSE(fraction);
}

TEST(Nanoseconds, TakesExponents) { EXPECT_EQ(ns("1.5e3"), 1500000); }

TEST(Nanoseconds, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "N/A", "x1", "1.2.3", "99999999999999999999", "9e300", "9223372036854775807"}) {
    EXPECT_EQ(ns(text), std::nullopt) << text;
  }
}

TEST(Integer, TakesStringsOfDigitsToo) {
  EXPECT_EQ(integer({JsonValue::Kind::string, "42"}), 42);
  EXPECT_EQ(integer({JsonValue::Kind::bare, "4.5"}), std::nullopt);
  EXPECT_EQ(integer({JsonValue::Kind::nested, "[4]"}), std::nullopt);
}

}  // namespace
}  // namespace symmcts::evidence

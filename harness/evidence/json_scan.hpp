#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace symmcts::evidence {

// A JSON value as it stands in the text. Strings are not unescaped: nothing that is read here has
// escapes in an undamaged file, and damaged ones must not stop the reader.
struct JsonValue {
  enum class Kind : std::uint8_t { string, bare, nested };
  Kind kind = Kind::bare;
  std::string_view
      text;  // string: without its quotes; nested: with its brackets; bare: as it stands
};

// Walks the members of one JSON object and forgives what profilers have written in the wild: raw
// control characters, invalid UTF-8, bad escapes, bare N/A and NaN, trailing commas (facts/traces).
// `object` starts at its `{`, or, with `inside`, anywhere between two members; it may be cut off.
class ObjectScanner {
 public:
  explicit ObjectScanner(std::string_view object, bool inside = false);

  // The next member; false at the end of the object or of the text, or where the text is no object.
  bool next(std::string_view& key, JsonValue& value);
  // The walk ended where a member or a closing brace should have been.
  bool damaged() const { return damaged_; }
  // After the walk: what is left, from the closing brace on.
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

 private:
  bool scan_string(std::string_view& out);
  bool scan_value(JsonValue& out);
  void skip_space();

  std::string_view text_;
  std::size_t at_ = 0;
  bool done_ = false;
  bool damaged_ = false;
};

// The value of `key` in `object`, if it is there.
std::optional<JsonValue> member(std::string_view object, std::string_view key);

// An integer, also when the source wrote it as a string ("42"); nothing for anything else.
std::optional<std::int64_t> integer(const JsonValue& value);

// Microseconds with an optional fraction, in nanoseconds: 1694128201428006 or 5177653419607.380.
// Not by way of a double, which has no room for the nanoseconds of an absolute time. `fraction` is
// set when there was one. Nothing for what is no number or does not fit.
std::optional<std::int64_t> nanoseconds_of_us(const JsonValue& value, bool* fraction = nullptr);

}  // namespace symmcts::evidence

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace symmcts::recorder {

// `text` as a JSON string, quotes included. Bytes that are no UTF-8 are replaced by '?', so that a
// line can always be read back.
std::string json_string(std::string_view text);

// Writes one JSON object, keys in the order in which they are added. Keys are literals of ours and
// are not escaped.
class JsonObject {
 public:
  JsonObject& text(const char* key, std::string_view value);
  JsonObject& number(const char* key, std::uint64_t value);
  JsonObject& integer(const char* key, std::int64_t value);
  JsonObject& flag(const char* key, bool value);
  JsonObject& null(const char* key);
  JsonObject& raw(const char* key, std::string_view json);  // json: a complete value
  std::string take();                                       // "{...}"; leaves an empty object

 private:
  void key(const char* key);
  std::string body_;
};

// Writes one JSON array of complete values.
class JsonArray {
 public:
  JsonArray& raw(std::string_view json);
  JsonArray& number(std::uint64_t value);
  std::string take();  // "[...]"

 private:
  std::string body_;
};

// The raw value of a top-level key in an object that symmcts_platform_info wrote (flat, strings
// without escapes), or "" where it is absent.
std::string_view json_value(std::string_view object, std::string_view key);

}  // namespace symmcts::recorder

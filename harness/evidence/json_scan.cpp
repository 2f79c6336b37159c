#include "harness/evidence/json_scan.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace symmcts::evidence {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

ObjectScanner::ObjectScanner(std::string_view object, bool inside) : text_(object) {
  if (inside) {
    return;
  }
  skip_space();
  if (at_ < text_.size() && text_[at_] == '{') {
    ++at_;
  } else {
    done_ = true;
    damaged_ = true;
  }
}

void ObjectScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) {
    ++at_;
  }
}

bool ObjectScanner::scan_string(std::string_view& out) {
  const std::size_t begin = ++at_;
  while (at_ < text_.size()) {
    if (text_[at_] == '\\') {
      at_ += 2;
    } else if (text_[at_] == '"') {
      out = text_.substr(begin, at_ - begin);
      ++at_;
      return true;
    } else {
      ++at_;
    }
  }
  return false;
}

bool ObjectScanner::scan_value(JsonValue& out) {
  const std::size_t begin = at_;
  const char first = text_[at_];
  if (first == '"') {
    out.kind = JsonValue::Kind::string;
    return scan_string(out.text);
  }
  if (first == '{' || first == '[') {
    out.kind = JsonValue::Kind::nested;
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        std::string_view ignored;
        if (!scan_string(ignored)) {
          return false;
        }
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) {
          out.text = text_.substr(begin, at_ - begin);
          return true;
        }
      }
    }
    return false;
  }
  out.kind = JsonValue::Kind::bare;
  while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' &&
         text_[at_] != '"' && !is_space(text_[at_])) {
    ++at_;
  }
  out.text = text_.substr(begin, at_ - begin);
  return !out.text.empty();
}

bool ObjectScanner::next(std::string_view& key, JsonValue& value) {
  if (done_) {
    return false;
  }
  skip_space();
  while (at_ < text_.size() && text_[at_] == ',') {
    ++at_;
    skip_space();
  }
  if (at_ < text_.size() && text_[at_] == '"' && scan_string(key)) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      skip_space();
      if (at_ < text_.size() && scan_value(value)) {
        skip_space();
        // A value is followed by a comma or the end; anything else is a bare quote inside a string.
        if (at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '}') {
          return true;
        }
      }
    }
    damaged_ = true;
  } else if (at_ >= text_.size() || text_[at_] != '}') {
    damaged_ = true;
  }
  done_ = true;
  return false;
}

std::optional<JsonValue> member(std::string_view object, std::string_view key) {
  ObjectScanner scanner(object);
  std::string_view name;
  JsonValue value;
  while (scanner.next(name, value)) {
    if (name == key) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::nested) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::int64_t> nanoseconds_of_us(const JsonValue& value, bool* fraction) {
  if (value.kind == JsonValue::Kind::nested) {
    return std::nullopt;
  }
  // Room for the sum with a base time as well.
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 4;
  const std::string_view text = value.text;
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc() || whole > kLimit / 1000 || whole < -kLimit / 1000) {
    return std::nullopt;
  }
  std::int64_t nanoseconds = whole * 1000;
  if (stop == end) {
    return nanoseconds;
  }
  const char* at = stop;
  std::int64_t part = 0;
  if (*at == '.') {
    int digits = 0;
    for (++at; at != end && *at >= '0' && *at <= '9'; ++at) {
      if (digits < 3) {
        part = part * 10 + (*at - '0');
      } else if (digits == 3 && *at >= '5') {
        ++part;
      }
      ++digits;
    }
    for (; digits < 3; ++digits) {
      part *= 10;
    }
  }
  if (at != end) {  // an exponent; rare enough for the slow way
    const std::string copy(text);
    char* rest = nullptr;
    const double us = std::strtod(copy.c_str(), &rest);
    if (*rest != '\0' || !std::isfinite(us) || std::fabs(us) * 1000 > static_cast<double>(kLimit)) {
      return std::nullopt;
    }
    return std::llround(us * 1000);
  }
  if (fraction != nullptr && part != 0) {
    *fraction = true;
  }
  return text.front() == '-' ? nanoseconds - part : nanoseconds + part;
}

}  // namespace symmcts::evidence

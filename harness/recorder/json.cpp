#include "harness/recorder/json.hpp"

#include <array>
#include <cstdio>

#include "harness/support/utf8.hpp"

namespace symmcts::recorder {
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      out += '?';
      ++at;
    } else if (length > 1) {
      out += text.substr(at, length);
      at += length;
    } else {
      if (byte == '"' || byte == '\\') {
        out += '\\';
        out += static_cast<char>(byte);
      } else if (byte < 0x20) {
        std::array<char, 8> escape{};
        std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
        out += escape.data();
      } else {
        out += static_cast<char>(byte);
      }
      ++at;
    }
  }
  out += '"';
  return out;
}

void JsonObject::key(const char* key) {
  body_ += body_.empty() ? "\"" : ",\"";
  body_ += key;
  body_ += "\":";
}

JsonObject& JsonObject::text(const char* name, std::string_view value) {
  return raw(name, json_string(value));
}

JsonObject& JsonObject::number(const char* name, std::uint64_t value) {
  return raw(name, std::to_string(value));
}

JsonObject& JsonObject::integer(const char* name, std::int64_t value) {
  return raw(name, std::to_string(value));
}

JsonObject& JsonObject::flag(const char* name, bool value) {
  return raw(name, value ? "true" : "false");
}

JsonObject& JsonObject::null(const char* name) { return raw(name, "null"); }

JsonObject& JsonObject::raw(const char* name, std::string_view json) {
  key(name);
  body_ += json;
  return *this;
}

std::string JsonObject::take() {
  std::string whole = "{" + body_ + "}";
  body_.clear();
  return whole;
}

JsonArray& JsonArray::raw(std::string_view json) {
  if (!body_.empty()) body_ += ',';
  body_ += json;
  return *this;
}

JsonArray& JsonArray::number(std::uint64_t value) { return raw(std::to_string(value)); }

std::string JsonArray::take() {
  std::string whole = "[" + body_ + "]";
  body_.clear();
  return whole;
}

std::string_view json_value(std::string_view object, std::string_view key) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  std::size_t at = object.find(quoted);
  if (at == std::string_view::npos) return {};
  at = object.find_first_not_of(" \t", at + quoted.size());
  if (at == std::string_view::npos || object[at] != ':') return {};
  at = object.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return {};
  std::size_t end = object[at] == '"' ? object.find('"', at + 1) : object.find_first_of(",}", at);
  if (end == std::string_view::npos) return {};
  if (object[at] == '"') ++end;
  std::string_view value = object.substr(at, end - at);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return value;
}

}  // namespace symmcts::recorder

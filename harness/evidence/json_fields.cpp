#include "harness/evidence/json_fields.hpp"

#include <limits>

namespace symmcts::evidence {

using nlohmann::json;

void JsonFields::fail(std::string problem) {
  if (problem_.empty()) {
    problem_ = std::move(problem);
  }
}

const json* JsonFields::find(const char* key) const {
  const auto at = object_.find(key);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

std::int64_t JsonFields::number(const char* key, std::int64_t fallback) {
  const json* value = find(key);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_number_integer()) {
    fail(std::string("'") + key + "' is not an integer");
    return fallback;
  }
  return value->get<std::int64_t>();
}

std::int64_t JsonFields::need_number(const char* key) {
  if (find(key) == nullptr) {
    fail(std::string("no '") + key + "'");
  }
  return number(key);
}

std::int64_t JsonFields::need_amount(const char* key) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max() / 2;
  const std::int64_t value = need_number(key);
  if (value < 0 || value > kLargest) {
    fail(std::string("'") + key + "' is out of range");
    return 0;
  }
  return value;
}

std::string JsonFields::text(const char* key) {
  const json* value = find(key);
  if (value == nullptr) {
    return {};
  }
  if (!value->is_string()) {
    fail(std::string("'") + key + "' is not a string");
    return {};
  }
  return value->get<std::string>();
}

std::string JsonFields::need_text(const char* key) {
  if (find(key) == nullptr) {
    fail(std::string("no '") + key + "'");
  }
  return text(key);
}

std::string JsonFields::text_or_number(const char* key) {
  const json* value = find(key);
  return value != nullptr && value->is_number() ? value->dump() : text(key);
}

bool JsonFields::flag(const char* key, bool fallback) {
  const json* value = find(key);
  if (value == nullptr) {
    return fallback;
  }
  if (!value->is_boolean()) {
    fail(std::string("'") + key + "' is not true or false");
    return fallback;
  }
  return value->get<bool>();
}

const json* JsonFields::object(const char* key) {
  const json* value = find(key);
  if (value != nullptr && !value->is_object()) {
    fail(std::string("'") + key + "' is not an object");
    return nullptr;
  }
  return value;
}

const json* JsonFields::array(const char* key) {
  const json* value = find(key);
  if (value != nullptr && !value->is_array()) {
    fail(std::string("'") + key + "' is not an array");
    return nullptr;
  }
  return value;
}

std::vector<std::string> JsonFields::texts(const char* key) {
  std::vector<std::string> out;
  if (const json* list = array(key)) {
    for (const json& value : *list) {
      out.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return out;
}

std::vector<std::int64_t> JsonFields::numbers(const char* key) {
  std::vector<std::int64_t> out;
  if (const json* list = array(key)) {
    for (const json& value : *list) {
      if (!value.is_number_integer()) {
        fail(std::string("'") + key + "' holds something that is not an integer");
        return {};
      }
      out.push_back(value.get<std::int64_t>());
    }
  }
  return out;
}

}  // namespace symmcts::evidence

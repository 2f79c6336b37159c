#pragma once

// Only for .cpp files of this room: it brings the JSON library.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/evidence/model.hpp"

namespace symmcts::evidence {

// Typed reading of one parsed line. The first thing that is missing or of the wrong type is kept in
// `problem`; null counts as absent.
class JsonFields {
 public:
  explicit JsonFields(const nlohmann::json& object) : object_(object) {}

  std::int64_t number(const char* key, std::int64_t fallback = kAbsent);
  std::int64_t need_number(const char* key);
  // A count or a time: not negative, and small enough that sums and differences of two do not
  // overflow.
  std::int64_t need_amount(const char* key);
  std::string text(const char* key);
  std::string need_text(const char* key);
  std::string text_or_number(const char* key);
  bool flag(const char* key, bool fallback);
  std::vector<std::string> texts(const char* key);  // numbers are turned into text
  std::vector<std::int64_t> numbers(const char* key);
  const nlohmann::json* object(const char* key);
  const nlohmann::json* array(const char* key);

  const std::string& problem() const { return problem_; }
  void fail(std::string problem);

 private:
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& object_;
  std::string problem_;
};

}  // namespace symmcts::evidence

#include "harness/platform/model/toml_reader.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <type_traits>

namespace symmcts::platform {
namespace {

const char* type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a float";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

template <typename Number>
std::string outside(Number number, Number least, Number most) {
  const auto text = [](Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
      return number_text(value);
    } else {
      return std::to_string(value);
    }
  };
  return "is " + text(number) + "; it must lie between " + text(least) + " and " + text(most);
}

std::optional<Mark> parse_mark(std::string_view word) {
  if (word == "measured") return Mark::measured;
  if (word == "documented") return Mark::documented;
  if (word == "reported") return Mark::reported;
  if (word == "inferred") return Mark::inferred;
  return std::nullopt;
}

}  // namespace

void TomlReader::fail(const toml::source_region& where, const std::string& what) {
  if (failed()) return;
  // A tree may have been put together from several files.
  const std::string& file = where.path && !where.path->empty() ? *where.path : origin_;
  error_ = file + ":" + std::to_string(where.begin.line) + ":" +
           std::to_string(where.begin.column) + ": " + what;
}

const toml::node* TomlTable::find(const char* key) {
  if (table_ == nullptr || reader_.failed()) return nullptr;
  seen_.insert(key);
  const toml::node* node = table_->get(key);
  if (node == nullptr) {
    reader_.fail(table_->source(), (name_.empty() ? std::string("the file") : "[" + name_ + "]") +
                                       " lacks the key '" + key + "'");
  }
  return node;
}

void TomlTable::require(std::initializer_list<const char*> keys) {
  if (table_ == nullptr) return;
  std::string missing;
  int count = 0;
  for (const char* key : keys) {
    if (has(key)) continue;
    missing += (count++ == 0 ? "'" : ", '") + std::string(key) + "'";
  }
  if (count == 0) return;
  reader_.fail(table_->source(), (name_.empty() ? std::string("the file") : "[" + name_ + "]") +
                                     (count == 1 ? " lacks the key " : " lacks the keys ") +
                                     missing);
}

TomlTable TomlTable::sub(const char* key) {
  const std::string name = name_.empty() ? key : name_ + "." + key;
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) {
    reader_.fail(node->source(), "'" + name + "' must be a table, not " + type_name(*node));
    node = nullptr;
  }
  return {reader_, node == nullptr ? nullptr : node->as_table(), name};
}

void TomlTable::text(const char* key, std::string& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (!node->is_string()) {
    reader_.fail(node->source(),
                 std::string("'") + key + "' must be a string, not " + type_name(*node));
    return;
  }
  out = node->as_string()->get();
}

const toml::node* TomlTable::value(const char* key, Mark& mark, std::string& source) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) {
    reader_.fail(node->source(), std::string("'") + key +
                                     "' must be { value = ..., mark = \"...\", source = \"...\" }, "
                                     "not " +
                                     type_name(*node));
    return nullptr;
  }
  TomlTable fact(reader_, node->as_table(), name_.empty() ? key : name_ + "." + key);
  std::string word;
  const toml::node* value = fact.find("value");
  fact.text("mark", word);
  fact.text("source", source);
  fact.close();
  if (reader_.failed()) return nullptr;
  const auto parsed = parse_mark(word);
  if (!parsed) {
    fact.reject("mark", "is '" + word + "'; it must be measured, documented, reported or inferred");
    return nullptr;
  }
  if (source.empty()) {
    fact.reject("source", "is empty; every fact names where it comes from");
    return nullptr;
  }
  mark = *parsed;
  return value;
}

void TomlTable::fact(const char* key, Marked<std::string>& out) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  if (!node->is_string())
    return reject(key, std::string("needs a string, not ") + type_name(*node));
  out.value = node->as_string()->get();
}

void TomlTable::fact(const char* key, Marked<bool>& out) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  if (!node->is_boolean()) {
    return reject(key, std::string("needs true or false, not ") + type_name(*node));
  }
  out.value = node->as_boolean()->get();
}

void TomlTable::fact(const char* key, Marked<int>& out, int least, int most) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  if (!node->is_integer()) {
    return reject(key, std::string("needs an integer, not ") + type_name(*node));
  }
  const std::int64_t number = node->as_integer()->get();
  if (number < least || number > most) {
    return reject(key, outside<std::int64_t>(number, least, most));
  }
  out.value = static_cast<int>(number);
}

void TomlTable::fact(const char* key, Marked<std::uint64_t>& out, std::uint64_t least,
                     std::uint64_t most) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  if (!node->is_integer()) {
    return reject(key, std::string("needs an integer, not ") + type_name(*node));
  }
  const std::int64_t number = node->as_integer()->get();
  const auto lowest = static_cast<std::int64_t>(least), highest = static_cast<std::int64_t>(most);
  if (number < lowest || number > highest) return reject(key, outside(number, lowest, highest));
  out.value = static_cast<std::uint64_t>(number);
}

void TomlTable::fact(const char* key, Marked<double>& out, double least, double most) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  if (!node->is_number())
    return reject(key, std::string("needs a number, not ") + type_name(*node));
  const double number = node->is_integer() ? static_cast<double>(node->as_integer()->get())
                                           : node->as_floating_point()->get();
  // A number that is none (nan) lies nowhere.
  if (!(number >= least && number <= most)) return reject(key, outside(number, least, most));
  out.value = number;
}

void TomlTable::fact(const char* key,
                     Marked<std::vector<std::pair<std::uint64_t, std::uint64_t>>>& out,
                     Ns longest) {
  const toml::node* node = value(key, out.mark, out.source);
  if (node == nullptr) return;
  const toml::array* points = node->as_array();
  if (points == nullptr || points->empty()) {
    return reject(key, "needs an array of [bytes, ns] pairs with at least one pair");
  }
  for (const toml::node& point : *points) {
    const toml::array* pair = point.as_array();
    const bool shaped = pair != nullptr && pair->size() == 2 && pair->get(0)->is_integer() &&
                        pair->get(1)->is_integer();
    const std::int64_t bytes = shaped ? pair->get_as<std::int64_t>(0)->get() : 0;
    const std::int64_t ns = shaped ? pair->get_as<std::int64_t>(1)->get() : 0;
    if (bytes <= 0 || ns <= 0 || ns > static_cast<std::int64_t>(longest)) {
      return reader_.fail(point.source(),
                          "'" + name_ + "." + key +
                              "' needs [bytes, ns] pairs of positive integers, ns at most " +
                              std::to_string(longest));
    }
    const auto b = static_cast<std::uint64_t>(bytes), n = static_cast<std::uint64_t>(ns);
    if (!out.value.empty() && (b <= out.value.back().first || n < out.value.back().second)) {
      return reader_.fail(point.source(), "'" + name_ + "." + key +
                                              "' must ascend: more bytes never take less time");
    }
    out.value.emplace_back(b, n);
  }
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  if (table_ == nullptr) return names;
  for (const auto& [key, node] : *table_) names.emplace_back(key.str());
  return names;
}

void TomlTable::reject(const char* key, const std::string& what) {
  const toml::node* node = table_ == nullptr ? nullptr : table_->get(key);
  if (node == nullptr) return;
  reader_.fail(node->source(), "'" + (name_.empty() ? "" : name_ + ".") + key + "' " + what);
}

void TomlTable::close() {
  if (table_ == nullptr || reader_.failed()) return;
  // The table is ordered by name; the first unknown key of the file is the one to show.
  const toml::node* first = nullptr;
  std::string first_key;
  for (const auto& [key, node] : *table_) {
    if (seen_.contains(key.str())) continue;
    if (first == nullptr || node.source().begin < first->source().begin) {
      first = &node;
      first_key = key.str();
    }
  }
  if (first != nullptr) {
    reader_.fail(first->source(),
                 "unknown key '" + (name_.empty() ? "" : name_ + ".") + first_key + "'");
  }
}

}  // namespace symmcts::platform

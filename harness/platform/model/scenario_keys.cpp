#include "harness/platform/model/scenario_keys.hpp"

#include "harness/platform/model/driver_functions.hpp"

namespace symmcts::platform {
namespace {

std::string range_text(const char* key, std::int64_t most) {
  return std::string("'") + key + "' must be an integer from 0 to " + std::to_string(most);
}

}  // namespace

void read_integer(TomlReader& reader, const toml::table& table, const char* key, std::int64_t most,
                  std::int64_t& out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return reader.fail(table.source(), std::string("lacks the key '") + key + "'");
  }
  const auto* number = node->as_integer();
  if (number == nullptr || number->get() < 0 || number->get() > most) {
    return reader.fail(node->source(), range_text(key, most));
  }
  out = number->get();
}

bool read_number(TomlReader& reader, const toml::table& table, const char* key,
                 std::uint64_t& out) {
  if (!table.contains(key)) return false;
  std::int64_t number = 0;
  read_integer(reader, table, key, kLargest, number);
  out = static_cast<std::uint64_t>(number);
  return true;
}

void read_flag(TomlReader& reader, const toml::table& table, const char* key, bool& out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const auto* flag = node->as_boolean();
  if (flag == nullptr) {
    return reader.fail(node->source(), std::string("'") + key + "' must be true or false");
  }
  out = flag->get();
}

std::string read_text(TomlReader& reader, const toml::table& table, const char* key) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    reader.fail(table.source(), std::string("lacks the key '") + key + "'");
    return {};
  }
  const auto* text = node->as_string();
  if (text == nullptr || text->get().empty()) {
    reader.fail(node->source(), std::string("'") + key + "' must be a string with something in it");
    return {};
  }
  return text->get();
}

std::string read_function(TomlReader& reader, const toml::table& table, const char* key) {
  std::string name = read_text(reader, table, key);
  if (!reader.failed() && !is_driver_function(name)) {
    reader.fail(table.get(key)->source(),
                std::string("'") + key + "' is '" + name +
                    "', which is no function of the driver; it must be one, without version or "
                    "stream suffix, as cuMemRelease");
  }
  return name;
}

std::vector<int> read_integers(TomlReader& reader, const toml::table& table, const char* key,
                               std::int64_t most) {
  std::vector<int> out;
  const toml::node* node = table.get(key);
  if (node == nullptr) return out;
  const toml::array* numbers = node->as_array();
  if (numbers == nullptr) {
    reader.fail(node->source(), std::string("'") + key + "' must be an array of integers");
    return out;
  }
  for (const toml::node& entry : *numbers) {
    const auto* number = entry.as_integer();
    if (number == nullptr || number->get() < 0 || number->get() > most) {
      reader.fail(entry.source(), range_text(key, most));
      return out;
    }
    out.push_back(static_cast<int>(number->get()));
  }
  return out;
}

void reject_others(TomlReader& reader, const toml::table& table,
                   std::initializer_list<std::string_view> known) {
  const toml::node* first = nullptr;
  std::string name;
  for (const auto& [key, node] : table) {
    bool ok = false;
    for (const std::string_view word : known) ok = ok || word == key.str();
    if (ok || (first != nullptr && first->source().begin < node.source().begin)) continue;
    first = &node;
    name = key.str();
  }
  if (first != nullptr) reader.fail(first->source(), "unknown key '" + name + "'");
}

void for_each_table(TomlReader& reader, const toml::table& file, const char* key,
                    const std::function<void(const toml::table&)>& each) {
  const toml::node* node = file.get(key);
  if (node == nullptr) return;
  const std::string wrong = std::string("'") + key + "' must be written as [[" + key + "]]";
  const toml::array* tables = node->as_array();
  if (tables == nullptr) return reader.fail(node->source(), wrong);
  for (const toml::node& table : *tables) {
    if (!table.is_table()) return reader.fail(table.source(), wrong);
    each(*table.as_table());
  }
}

}  // namespace symmcts::platform

#include "harness/cli/toml_document.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace symmcts::cli {

TomlDocument::TomlDocument(std::string_view text, std::string origin) : origin_(std::move(origin)) {
  toml::parse_result parsed = toml::parse(text, origin_);
  if (parsed) {
    root_ = std::move(parsed).table();
  } else {
    fail(parsed.error().source(), std::string(parsed.error().description()));
  }
}

void TomlDocument::fail(const toml::source_region& where, const std::string& what) {
  if (failed()) return;
  error_ = origin_ + ":" + std::to_string(where.begin.line) + ":" +
           std::to_string(where.begin.column) + ": " + what;
}

const toml::node* TomlTable::find(const char* key) {
  seen_.insert(key);
  const toml::node* node = table_->get(key);
  if (node == nullptr) {
    document_->fail(table_->source(), "`" + std::string(key) + "` is missing in " + name_);
  }
  return node;
}

const toml::array* TomlTable::find_array(const char* key) {
  const toml::node* node = find(key);
  if (node == nullptr) return nullptr;
  if (!node->is_array()) reject(key, "must be an array");
  return node->as_array();
}

std::string TomlTable::text(const char* key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_string() || node->as_string()->get().empty()) {
    reject(key, "must be a text that is not empty");
    return {};
  }
  return node->as_string()->get();
}

bool TomlTable::flag(const char* key) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (!node->is_boolean()) reject(key, "must be true or false");
  return node->is_boolean() && node->as_boolean()->get();
}

std::int64_t TomlTable::number(const char* key, std::int64_t least, std::int64_t most) {
  const toml::node* node = find(key);
  if (node == nullptr) return least;
  const std::int64_t value = node->is_integer() ? node->as_integer()->get() : least - 1;
  if (value >= least && value <= most) return value;
  reject(key,
         "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return least;
}

std::vector<std::string> TomlTable::texts(const char* key) {
  std::vector<std::string> out;
  const toml::array* array = find_array(key);
  if (array == nullptr) return out;
  for (const toml::node& node : *array) {
    if (!node.is_string()) {
      document_->fail(node.source(), "`" + std::string(key) + "` must hold texts only");
      break;
    }
    out.push_back(node.as_string()->get());
  }
  return out;
}

std::vector<std::int64_t> TomlTable::numbers(const char* key) {
  std::vector<std::int64_t> out;
  const toml::array* array = find_array(key);
  if (array == nullptr) return out;
  for (const toml::node& node : *array) {
    if (!node.is_integer()) {
      document_->fail(node.source(), "`" + std::string(key) + "` must hold whole numbers only");
      break;
    }
    out.push_back(node.as_integer()->get());
  }
  return out;
}

TomlTable TomlTable::table(const char* key) {
  static const toml::table kEmpty;
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) reject(key, "must be a table");
  const toml::table* table = node != nullptr ? node->as_table() : nullptr;
  return TomlTable(*document_, table != nullptr ? *table : kEmpty, "[" + std::string(key) + "]");
}

std::vector<TomlTable> TomlTable::tables(const char* key) {
  std::vector<TomlTable> out;
  if (!has(key)) return out;
  const toml::array* array = find_array(key);
  if (array == nullptr) return out;
  for (const toml::node& node : *array) {
    if (!node.is_table()) {
      document_->fail(node.source(), "`" + std::string(key) + "` must hold tables only");
      break;
    }
    out.emplace_back(*document_, *node.as_table(), "[[" + std::string(key) + "]]");
  }
  return out;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, node] : *table_) out.emplace_back(key.str());
  return out;
}

void TomlTable::reject(const char* key, const std::string& what) {
  const toml::node* node = table_->get(key);
  document_->fail(node != nullptr ? node->source() : table_->source(),
                  "`" + std::string(key) + "` " + what);
}

void TomlTable::expect_schema(const std::string& schema) {
  if (text("schema") != schema) reject("schema", "must be \"" + schema + "\"");
}

void TomlTable::close() {
  for (const auto& [key, node] : *table_) {
    if (seen_.count(key.str()) != 0) continue;
    document_->fail(key.source(), "`" + std::string(key.str()) + "` is not a key of " + name_);
    return;
  }
}

Result<std::string> read_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return Error{file.string() + ": is a folder"};
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{file.string() + ": " + std::strerror(errno)};
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

}  // namespace symmcts::cli

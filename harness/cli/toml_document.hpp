#pragma once

// Errors are values here, so the parser must not throw.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::cli {

// A TOML text that is read key by key. It remembers the first thing that is wrong, as
// "file:line:column: what"; after that every further read does nothing, so callers read on and look
// once at the end.
class TomlDocument {
 public:
  // `origin` names the text in errors.
  TomlDocument(std::string_view text, std::string origin);

  void fail(const toml::source_region& where, const std::string& what);
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  const toml::table& root() const { return root_; }

 private:
  std::string origin_, error_;
  toml::table root_;
};

// One table of a document. Keys that are never read are errors at close().
class TomlTable {
 public:
  TomlTable(TomlDocument& document, const toml::table& table, std::string name)
      : document_(&document), table_(&table), name_(std::move(name)) {}
  explicit TomlTable(TomlDocument& document)
      : TomlTable(document, document.root(), "the top level") {}

  // Whether the key is there, so that it can be read; does not count as reading it.
  bool has(const char* key) const { return table_->contains(key); }

  // Each fails if the key is missing or of another type.
  std::string text(const char* key);
  bool flag(const char* key);
  std::int64_t number(const char* key, std::int64_t least, std::int64_t most);
  std::vector<std::string> texts(const char* key);
  std::vector<std::int64_t> numbers(const char* key);
  TomlTable table(const char* key);
  // Tables of `[[key]]`, or an array of inline tables; none if the key is absent.
  std::vector<TomlTable> tables(const char* key);
  // Names of all keys, for tables whose keys are free.
  std::vector<std::string> keys() const;

  // An error about the value of `key`.
  void reject(const char* key, const std::string& what);
  // Fails unless `schema` has that value.
  void expect_schema(const std::string& schema);
  // Call when everything known has been read.
  void close();

 private:
  const toml::node* find(const char* key);
  const toml::array* find_array(const char* key);

  TomlDocument* document_;
  const toml::table* table_;
  std::string name_;
  std::set<std::string, std::less<>> seen_;
};

// The text of a file. An Error names it.
Result<std::string> read_file(const std::filesystem::path& file);

}  // namespace symmcts::cli

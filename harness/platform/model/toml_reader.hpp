#pragma once

// Errors are values here, so the parser must not throw.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "harness/platform/model/profile.hpp"

namespace symmcts::platform {

// Walks one profile's TOML tree and remembers the first thing that is wrong, with its place. After
// an error every further read does nothing, so callers read on and look once at the end.
class TomlReader {
 public:
  explicit TomlReader(std::string_view origin) : origin_(origin) {}

  void fail(const toml::source_region& where, const std::string& what);
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::string origin_, error_;
};

// One table of the tree. Every key that is read is remembered; close() makes any other an error.
class TomlTable {
 public:
  // `table` may be null (missing, already reported): reads then do nothing.
  TomlTable(TomlReader& reader, const toml::table* table, std::string name)
      : reader_(reader), table_(table), name_(std::move(name)) {}

  TomlTable sub(const char* key);
  bool has(const char* key) const { return table_ != nullptr && table_->contains(key); }
  // One error that names every one of these keys that is not there.
  void require(std::initializer_list<const char*> keys);
  // Plain string without a mark: names and summaries.
  void text(const char* key, std::string& out);

  // Facts: an inline table { value = ..., mark = "...", source = "..." }.
  void fact(const char* key, Marked<std::string>& out);
  void fact(const char* key, Marked<bool>& out);
  void fact(const char* key, Marked<int>& out, int least, int most);
  void fact(const char* key, Marked<std::uint64_t>& out, std::uint64_t least, std::uint64_t most);
  void fact(const char* key, Marked<double>& out, double least, double most);
  // Pairs of (bytes, ns), ascending; no time is longer than `longest`.
  void fact(const char* key, Marked<std::vector<std::pair<std::uint64_t, std::uint64_t>>>& out,
            Ns longest);

  // Names of all keys, in the order of the file; for tables whose keys are free.
  std::vector<std::string> keys() const;
  // An error about the value of `key`.
  void reject(const char* key, const std::string& what);
  void close();

 private:
  // The value node of a fact, with mark and source read; null after an error.
  const toml::node* value(const char* key, Mark& mark, std::string& source);
  const toml::node* find(const char* key);

  TomlReader& reader_;
  const toml::table* table_;
  std::string name_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace symmcts::platform

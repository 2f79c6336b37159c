#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "harness/platform/model/toml_reader.hpp"

// What the readers of a scenario file's tables share. An error goes to the reader, with its place.
namespace symmcts::platform {

inline constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// An integer from 0 to `most` that must be there.
void read_integer(TomlReader& reader, const toml::table& table, const char* key, std::int64_t most,
                  std::int64_t& out);
// The same where it may be absent: then `out` stays as it was, and the result is false.
bool read_number(TomlReader& reader, const toml::table& table, const char* key, std::uint64_t& out);
void read_flag(TomlReader& reader, const toml::table& table, const char* key, bool& out);
std::string read_text(TomlReader& reader, const toml::table& table, const char* key);
// The name of a driver function: a scenario about anything else would never take place.
std::string read_function(TomlReader& reader, const toml::table& table, const char* key);
// An array of integers from 0 to `most`; nothing where it is absent.
std::vector<int> read_integers(TomlReader& reader, const toml::table& table, const char* key,
                               std::int64_t most);
// The first key, in the order of the file, that is not among `known`, is an error.
void reject_others(TomlReader& reader, const toml::table& table,
                   std::initializer_list<std::string_view> known);
// Calls `each` for the tables [[key]], in the order of the file; there may be none.
void for_each_table(TomlReader& reader, const toml::table& file, const char* key,
                    const std::function<void(const toml::table&)>& each);

}  // namespace symmcts::platform

#pragma once

#include "harness/platform/model/toml_reader.hpp"

// A profile as a tree of TOML tables: between its text and what it says.
namespace symmcts::platform {

inline constexpr const char* kExtends = "extends";

// Lays `top` over `base`: a table over a table goes key by key, a fact or anything else replaces
// what lay there. Nodes keep the place in the file that they came from.
void overlay(toml::table& base, toml::table&& top);

// What the tree says. `reader` names the file in errors that no node of the tree can name.
Result<Profile> read_profile(const toml::table& tree, TomlReader& reader);

}  // namespace symmcts::platform

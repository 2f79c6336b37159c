#include "harness/platform/model/scenario.hpp"

#include "harness/platform/model/driver_functions.hpp"
#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/toml_reader.hpp"

namespace symmcts::platform {
namespace {

void read_integer(TomlReader& reader, const toml::table& table, const char* key, std::int64_t most,
                  std::int64_t& out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    return reader.fail(table.source(), std::string("lacks the key '") + key + "'");
  }
  const auto* number = node->as_integer();
  if (number == nullptr || number->get() < 0 || number->get() > most) {
    return reader.fail(node->source(), std::string("'") + key + "' must be an integer from 0 to " +
                                           std::to_string(most));
  }
  out = number->get();
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

std::optional<ObjectKind> read_object(TomlReader& reader, const toml::table& table,
                                      const char* key) {
  if (!table.contains(key)) return std::nullopt;
  const std::string word = read_text(reader, table, key);
  if (word == "multicast") return ObjectKind::multicast;
  if (word == "memory") return ObjectKind::memory;
  reader.fail(table.get(key)->source(),
              std::string("'") + key + "' must be \"multicast\" or \"memory\"");
  return std::nullopt;
}

// The name of a driver function: a hold before anything else would never take place.
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

// The first key, in the order of the file, that is not among `known`.
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

Hold read_hold(TomlReader& reader, const toml::table& table) {
  Hold hold;
  std::int64_t rank = 0, until_rank = 0;
  read_integer(reader, table, "rank", kMaxRank, rank);
  hold.rank = static_cast<int>(rank);
  hold.before = read_function(reader, table, "before");
  hold.object = read_object(reader, table, "object");
  read_integer(reader, table, "until_rank", kMaxRank, until_rank);
  hold.until_rank = static_cast<int>(until_rank);
  hold.until_passed = read_function(reader, table, "until_passed");
  hold.until_object = read_object(reader, table, "until_object");
  reject_others(reader, table,
                {"rank", "before", "object", "until_rank", "until_passed", "until_object"});
  if (hold.rank == hold.until_rank && !reader.failed()) {
    reader.fail(table.source(), "a rank cannot be held until it has itself passed a call");
  }
  return hold;
}

void read_holds(TomlReader& reader, const toml::table& file, std::vector<Hold>& out) {
  const toml::node* node = file.get("hold");
  if (node == nullptr) return;
  const toml::array* holds = node->as_array();
  if (holds == nullptr) return reader.fail(node->source(), "'hold' must be written as [[hold]]");
  for (const toml::node& hold : *holds) {
    if (!hold.is_table()) return reader.fail(hold.source(), "'hold' must be written as [[hold]]");
    out.push_back(read_hold(reader, *hold.as_table()));
  }
}

void read_faults(TomlReader& reader, const toml::table& file, Scenario& out) {
  const toml::node* node = file.get("faults");
  if (node == nullptr) return;
  const toml::table* faults = node->as_table();
  if (faults == nullptr) return reader.fail(node->source(), "'faults' must be a table");
  if (faults->contains("multicast_slots")) {
    std::int64_t slots = 0;
    read_integer(reader, *faults, "multicast_slots", std::int64_t{1} << 32, slots);
    out.multicast_slots = static_cast<std::uint64_t>(slots);
  }
  reject_others(reader, *faults, {"multicast_slots"});
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view origin) {
  TomlReader reader(origin);
  const toml::parse_result parsed = toml::parse(text, origin);
  if (!parsed) {
    reader.fail(parsed.error().source(), std::string(parsed.error().description()));
    return Error{reader.error()};
  }
  const toml::table& file = parsed.table();
  Scenario scenario;
  if (file.contains("schema") && read_text(reader, file, "schema") != "symm-cts/scenario/1" &&
      !reader.failed()) {
    reader.fail(file.get("schema")->source(), "'schema' must be \"symm-cts/scenario/1\"");
  }
  read_holds(reader, file, scenario.holds);
  read_faults(reader, file, scenario);
  reject_others(reader, file, {"schema", "hold", "faults"});
  if (reader.failed()) return Error{reader.error()};
  return scenario;
}

}  // namespace symmcts::platform

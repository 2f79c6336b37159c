#include "harness/platform/model/scenario.hpp"

#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/scenario_keys.hpp"

namespace symmcts::platform {
namespace {

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
  for_each_table(reader, file, "hold", [&](const toml::table& table) {
    scenario.holds.push_back(read_hold(reader, table));
  });
  scenario.rank_faults = read_rank_faults(reader, file);
  if (const toml::node* node = file.get("faults")) {
    const toml::table* faults = node->as_table();
    if (faults == nullptr) reader.fail(node->source(), "'faults' must be a table");
    if (faults != nullptr) scenario.faults = read_faults(reader, *faults);
  }
  reject_others(reader, file, {"schema", "hold", "faults", "fail", "stall", "kill", "stop"});
  if (reader.failed()) return Error{reader.error()};
  return scenario;
}

}  // namespace symmcts::platform

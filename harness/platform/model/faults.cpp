#include "harness/platform/model/faults.hpp"

#include "harness/platform/model/scenario_keys.hpp"

namespace symmcts::platform {
namespace {

constexpr std::int64_t kMostSlots = std::int64_t{1} << 32;

FabricManager read_manager(TomlReader& reader, const toml::table& table) {
  constexpr const char* kKey = "fabric_manager";
  if (!table.contains(kKey)) return FabricManager::working;
  const std::string word = read_text(reader, table, kKey);
  if (word == "absent") return FabricManager::absent;
  if (word == "restarted") return FabricManager::restarted;
  if (word != "working") {
    reader.fail(table.get(kKey)->source(),
                "'fabric_manager' must be \"working\", \"absent\" or \"restarted\"");
  }
  return FabricManager::working;
}

}  // namespace

Faults read_faults(TomlReader& reader, const toml::table& table) {
  Faults out;
  if (table.contains("multicast_slots")) {
    std::int64_t slots = 0;
    read_integer(reader, table, "multicast_slots", kMostSlots, slots);
    out.multicast_slots = static_cast<std::uint64_t>(slots);
  }
  std::uint64_t unit = 0;
  if (read_number(reader, table, "multicast_capacity_unit", unit)) {
    if (unit == 0 || (unit & (unit - 1)) != 0) {
      reader.fail(table.get("multicast_capacity_unit")->source(),
                  "'multicast_capacity_unit' must be a power of two");
    }
    out.multicast_capacity_unit = unit;
  }
  out.fabric_manager = read_manager(reader, table);
  read_number(reader, table, "fabric_manager_stall_ns", out.fabric_manager_stall);
  read_number(reader, table, "fabric_manager_patience_ns", out.fabric_manager_patience);
  out.imex_withdrawn_hosts = read_integers(reader, table, "imex_withdrawn_hosts", kMostHosts);
  read_flag(reader, table, "confidential_computing", out.confidential_computing);
  read_flag(reader, table, "unbind_ignores_size", out.unbind_ignores_size);
  reject_others(reader, table,
                {"multicast_slots", "multicast_capacity_unit", "fabric_manager",
                 "fabric_manager_stall_ns", "fabric_manager_patience_ns", "imex_withdrawn_hosts",
                 "confidential_computing", "unbind_ignores_size"});
  return out;
}

}  // namespace symmcts::platform

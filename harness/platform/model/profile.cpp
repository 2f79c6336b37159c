#include "harness/platform/model/profile.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "harness/platform/model/driver_functions.hpp"
#include "harness/platform/model/profile_tree.hpp"

namespace symmcts::platform {
namespace {

constexpr const char* kSchema = "symm-cts/platform/1";
// The classes that a profile describes; the others are derived from them.
constexpr const char* kClassNames[] = {
    "htod", "dtoh", "dtod", "peer", "multicast_native", "small_htod", "inline_htod"};
constexpr int kDescribed = static_cast<int>(std::size(kClassNames));
// Bounds that no machine comes near. With them the times of a run, which add up, stay far below
// what 63 bits hold: nanoseconds of three centuries.
constexpr Ns kLongestCall = 60'000'000'000;     // a driver call, a word's way, one table entry
constexpr Ns kLongestCopy = 3'600'000'000'000;  // a copy of the whole memory of a GPU
constexpr int kLongestGap = 1'000'000'000;      // ns between two copies of an engine
constexpr double kMostContended = 100;          // a copy's time beside another, over its own
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;
constexpr std::uint64_t kMostSlots = std::uint64_t{1} << 32;
constexpr int kMostChannel = 1 << 20;
constexpr int kNewestDriver = 99'990;

// bytes * numerator / denominator, rounded down; kNever where that is beyond 64 bits.
std::uint64_t scale(std::uint64_t bytes, std::uint64_t numerator, std::uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = Wide{bytes} * numerator / denominator;
  return scaled < kNever ? static_cast<std::uint64_t>(scaled) : kNever;
}

void power_of_two(TomlTable& table, const char* key, const Marked<std::uint64_t>& fact) {
  if (fact.value != 0 && (fact.value & (fact.value - 1)) != 0) {
    table.reject(key, "must be a power of two");
  }
}

void read_machine(TomlTable machine, Profile& out) {
  machine.fact("hosts", out.hosts, 1, kMostHosts);
  machine.fact("gpus_per_host", out.gpus_per_host, 1, 64);
  machine.fact("driver_version", out.driver_version, 12010, kNewestDriver);
  machine.close();
}

void read_gpu(TomlTable gpu, Profile& out) {
  gpu.fact("name", out.gpu_name);
  gpu.fact("memory", out.gpu_memory, std::uint64_t{1} << 20, kMostBytes);
  gpu.fact("compute_major", out.compute_major, 1, 99);
  gpu.fact("compute_minor", out.compute_minor, 0, 99);
  gpu.fact("async_engines", out.async_engines, 0, 64);
  gpu.fact("multiprocessors", out.multiprocessors, 1, 4096);
  gpu.close();
}

void read_sharing(TomlTable sharing, Profile& out) {
  sharing.fact("posix_fd", out.posix_fd);
  sharing.fact("fabric", out.fabric);
  sharing.fact("imex_channel", out.imex_channel);
  sharing.fact("granularity", out.granularity, 4096, kMostBytes);
  sharing.fact("granularity_recommended", out.granularity_recommended, 4096, kMostBytes);
  power_of_two(sharing, "granularity", out.granularity);
  power_of_two(sharing, "granularity_recommended", out.granularity_recommended);
  sharing.close();
}

void read_multicast(TomlTable multicast, Profile& out) {
  multicast.fact("supported", out.multicast);
  multicast.fact("slots", out.multicast_slots, 0, kMostSlots);
  multicast.fact("granularity", out.multicast_granularity, 4096, kMostBytes);
  multicast.fact("granularity_recommended", out.multicast_granularity_recommended, 4096,
                 kMostBytes);
  // An ordinal is that of a GPU of one host.
  multicast.fact("aperture_ordinal", out.aperture_ordinal, 0,
                 std::max(out.gpus_per_host.value, 1) - 1);
  power_of_two(multicast, "granularity", out.multicast_granularity);
  power_of_two(multicast, "granularity_recommended", out.multicast_granularity_recommended);
  multicast.close();
}

void read_rule(TomlTable rule, bool has_engine, CopyRule& out) {
  if (has_engine) rule.fact("engine", out.engine);
  rule.fact("channel_base", out.channel_base, 0, kMostChannel);
  rule.fact("channel_count", out.channel_count, 1, 1024);
  rule.fact("channel_type", out.channel_type, 1, 2);
  rule.fact("gap_ns", out.gap_ns, 0, kLongestGap);
  rule.fact("switch_gap_ns", out.switch_gap_ns, 0, kLongestGap);
  rule.fact("duration", out.duration, kLongestCall);
  rule.fact("contends_with", out.contends_with);
  rule.fact("contended_factor", out.contended_factor, 1.0, kMostContended);
  if (has_engine && (out.engine.value.empty() || out.engine.value == "either")) {
    rule.reject("engine", "must name one engine");
  }
  rule.close();
}

void derive_classes(Profile& out) {
  CopyRule& read = out.copies[static_cast<int>(CopyClass::peer_read)];
  read = out.rule(CopyClass::peer);
  const auto factor = static_cast<std::uint64_t>(out.peer_read_factor.value * 1000);
  for (auto& [bytes, ns] : read.duration.value) ns = scale(ns, factor, 1000);
}

void read_copies(TomlTable copies, Profile& out) {
  copies.fact("small_upload", out.small_upload, 0, kMostBytes);
  copies.fact("inline_upload", out.inline_upload, 0, kMostBytes);
  copies.fact("inline_graph_upload", out.inline_graph_upload, 0, kMostBytes);
  copies.fact("default_compute_channel", out.default_compute_channel, 0, kMostChannel);
  copies.fact("staging_chunk", out.staging_chunk, 4096, kMostBytes);
  copies.fact("peer_read_factor", out.peer_read_factor, 0.5, kMostContended);
  copies.fact("dtod_engine", out.dtod_engine);
  const std::string& shared = out.dtod_engine.value;
  if (!shared.empty() && shared != "htod" && shared != "dtoh" && shared != "either") {
    copies.reject("dtod_engine", "is '" + shared + "'; it must be htod, dtoh or either");
  }
  constexpr auto kNative = static_cast<int>(CopyClass::multicast_native);
  for (int i = 0; i < kDescribed; ++i) {
    read_rule(copies.sub(kClassNames[i]), i != kNative, out.copies[i]);
  }
  // The setting speaks of directions; the rule needs the engine that serves that direction.
  CopyRule& native = out.copies[kNative];
  native.engine = out.dtod_engine;
  if (shared == "htod") native.engine.value = out.rule(CopyClass::htod).engine.value;
  if (shared == "dtoh") native.engine.value = out.rule(CopyClass::dtoh).engine.value;
  for (int i = 0; i < kDescribed; ++i) {
    const std::string& other = out.copies[i].contends_with.value;
    const bool known = other.empty() || std::any_of(std::begin(out.copies), std::end(out.copies),
                                                    [&](const CopyRule& rule) {
                                                      return rule.engine.value == other;
                                                    });
    if (!known) copies.reject(kClassNames[i], "contends with '" + other + "', which no class uses");
    if (out.duration(static_cast<CopyClass>(i), out.gpu_memory.value) > kLongestCopy) {
      copies.reject(kClassNames[i],
                    "has a duration by which a copy of a GPU's whole memory takes " +
                        std::string("longer than an hour"));
    }
  }
  copies.close();
  derive_classes(out);
}

void read_host(TomlTable host, Profile& out) {
  for (const std::string& name : host.keys()) {
    if (name != "default" && name != "poll" && !is_driver_function(name) &&
        !is_driver_symbol(name)) {
      host.reject(name.c_str(),
                  "is no function that the platform exports; a key here is one of "
                  "them (as cuMemCreate), or default, or poll");
    }
    host.fact(name.c_str(), out.call_ns[name], 0, kLongestCall);
  }
  // A poll that took no time would never let another rank's event come first.
  for (const char* needed : {"default", "poll"}) {
    host.fact(needed, out.call_ns[needed], 1, kLongestCall);
  }
  host.close();
}

// 32 hexadecimal digits.
bool parse_uuid(const std::string& text, std::array<std::uint8_t, 16>& out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    const auto [stop, error] = std::from_chars(digits, digits + 2, out[i], 16);
    if (error != std::errc() || stop != digits + 2) return false;
  }
  return true;
}

void read_fabric(TomlTable fabric, Profile& out) {
  fabric.fact("state", out.fabric_state);
  const std::string& state = out.fabric_state.value;
  if (!state.empty() && state != "not_supported" && state != "not_started" &&
      state != "in_progress" && state != "completed") {
    fabric.reject("state", "is '" + state +
                               "'; it must be not_supported, not_started, "
                               "in_progress or completed");
  }
  fabric.fact("cluster_uuid", out.cluster_uuid_text);
  if (!parse_uuid(out.cluster_uuid_text.value, out.cluster_uuid)) {
    fabric.reject("cluster_uuid", "needs 32 hexadecimal digits");
  }
  fabric.fact("clique_id", out.clique_id, 0, std::numeric_limits<int>::max());
  fabric.fact("gpus_per_domain", out.gpus_per_domain, 1, kMostHosts * 64);
  const int domain = out.gpus_per_domain.value, host = out.gpus_per_host.value;
  if (domain != 0 && host != 0 && domain % host != 0) {
    fabric.reject("gpus_per_domain", "must be whole hosts of " + std::to_string(host) + " GPUs");
  }
  fabric.close();
}

void read_management(TomlTable management, Profile& out) {
  management.fact("driver", out.management.driver);
  management.fact("memory_reserved", out.management.memory_reserved, 0, kMostBytes);
  management.fact("nvlinks", out.management.nvlinks, 0, 64);
  management.fact("nvlink_version", out.management.nvlink_version, 0, 99);
  management.fact("nvlink_remote", out.management.nvlink_remote);
  const std::string& remote = out.management.nvlink_remote.value;
  if (!remote.empty() && remote != "gpu" && remote != "switch") {
    management.reject("nvlink_remote", "is '" + remote + "'; it must be gpu or switch");
  }
  management.fact("common_ancestor", out.management.common_ancestor, 0, 50);
  // Identities of a part: nobody can infer them, so they may be absent.
  for (const auto& [key, fact] :
       {std::pair{"pci_device_id", &out.management.pci_device_id},
        std::pair{"pci_subsystem_id", &out.management.pci_subsystem_id}}) {
    if (management.has(key)) management.fact(key, fact->emplace(), 0, 0xffffffff);
  }
  management.close();
}

}  // namespace

Ns Profile::duration(CopyClass c, std::uint64_t bytes) const {
  const auto& points = rule(c).duration.value;
  if (points.empty()) return 1;
  const auto after =
      std::find_if(points.begin(), points.end(), [&](const auto& p) { return bytes <= p.first; });
  if (after == points.begin()) return points.front().second;
  if (after == points.end()) return scale(bytes, points.back().second, points.back().first);
  const auto before = after - 1;
  return before->second +
         scale(bytes - before->first, after->second - before->second, after->first - before->first);
}

Ns Profile::call_cost(std::string_view function) const {
  const auto drop = [&](std::string_view suffix) {
    if (function.ends_with(suffix)) function.remove_suffix(suffix.size());
  };
  if (const auto found = call_ns.find(function); found != call_ns.end()) return found->second.value;
  drop("_ptsz");
  drop("_ptds");
  for (const char* version : {"_v2", "_v3", "_v4"}) drop(version);
  if (const auto found = call_ns.find(function); found != call_ns.end()) return found->second.value;
  const auto other = call_ns.find("default");
  return other == call_ns.end() ? 1 : other->second.value;
}

void overlay(toml::table& base, toml::table&& top) {
  for (auto&& [key, node] : top) {
    toml::table* over = node.as_table();
    toml::node* under = base.get(key.str());
    toml::table* table = under == nullptr ? nullptr : under->as_table();
    const bool both_tables = over != nullptr && table != nullptr;
    if (both_tables && !over->contains("value") && !table->contains("value")) {
      overlay(*table, std::move(*over));
    } else {
      base.insert_or_assign(key.str(), std::move(node));
    }
  }
}

Result<Profile> read_profile(const toml::table& tree, TomlReader& reader) {
  Profile out;
  TomlTable root(reader, &tree, "");
  if (root.has("schema")) {
    std::string schema;
    root.text("schema", schema);
    if (schema != kSchema) root.reject("schema", "must be \"" + std::string(kSchema) + "\"");
  }
  if (const toml::node* extends = tree.get(kExtends)) {
    reader.fail(extends->source(), "'extends' works only in a file that is found by its name");
  }
  root.require({"schema", "name", "summary", "machine", "gpu", "sharing", "multicast", "copy",
                "host_ns", "word", "fabric", "management"});
  root.text("name", out.name);
  root.text("summary", out.summary);
  if (out.name.empty()) root.reject("name", "is empty");
  read_machine(root.sub("machine"), out);
  read_gpu(root.sub("gpu"), out);
  read_sharing(root.sub("sharing"), out);
  read_multicast(root.sub("multicast"), out);
  read_copies(root.sub("copy"), out);
  read_host(root.sub("host_ns"), out);
  TomlTable word = root.sub("word");
  word.fact("write_ns", out.word_write_ns, 0, kLongestCall);
  word.fact("visible_ns", out.word_visible_ns, 0, kLongestCall);
  word.close();
  read_fabric(root.sub("fabric"), out);
  read_management(root.sub("management"), out);
  root.close();
  if (reader.failed()) return Error{reader.error()};
  return out;
}

Result<Profile> parse_profile(std::string_view text, std::string_view origin) {
  TomlReader reader(origin);
  const toml::parse_result parsed = toml::parse(text, origin);
  if (!parsed) {
    reader.fail(parsed.error().source(), std::string(parsed.error().description()));
    return Error{reader.error()};
  }
  return read_profile(parsed.table(), reader);
}

}  // namespace symmcts::platform

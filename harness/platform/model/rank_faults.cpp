#include "harness/platform/model/rank_faults.hpp"

#include "harness/platform/model/driver_functions.hpp"
#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/scenario_keys.hpp"
#include "harness/support/phases.hpp"

namespace symmcts::platform {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 32;

// A count from 1 on that may be absent.
void read_count(TomlReader& reader, const toml::table& table, const char* key, std::uint64_t& out) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const auto* number = node->as_integer();
  if (number == nullptr || number->get() < 1 || number->get() > kMostCalls) {
    return reader.fail(node->source(), std::string("'") + key + "' must be an integer from 1 to " +
                                           std::to_string(kMostCalls));
  }
  out = static_cast<std::uint64_t>(number->get());
}

std::string read_called(TomlReader& reader, const toml::table& table, const char* key) {
  std::string name = read_function(reader, table, key);
  if (!reader.failed() && needs_no_machine(name)) {
    reader.fail(table.get(key)->source(), std::string("'") + key + "' is '" + name +
                                              "', which needs no machine: no scenario reaches it");
  }
  return name;
}

// A number, or the name that cuda.h gives it.
int read_code(TomlReader& reader, const toml::table& table) {
  const toml::node* node = table.get("code");
  if (node == nullptr) {
    reader.fail(table.source(), "lacks the key 'code'");
    return 0;
  }
  std::string shown;
  int code = 0;
  if (const auto* number = node->as_integer()) {
    shown = std::to_string(number->get());
    if (!error_name(number->get()).empty()) code = static_cast<int>(number->get());
  } else if (const auto* name = node->as_string()) {
    shown = "'" + name->get() + "'";
    code = error_code(name->get());
  } else {
    reader.fail(node->source(),
                "'code' must be a number or a name, as 802 or "
                "\"CUDA_ERROR_SYSTEM_NOT_READY\"");
    return 0;
  }
  if (code == 0) {
    reader.fail(node->source(), "'code' is " + shown + ", which is no error of the driver");
  }
  return code;
}

void read_call(TomlReader& reader, const toml::table& table, RankFault& fault) {
  fault.at = read_called(reader, table, "call");
  read_count(reader, table, "number", fault.number);
  read_count(reader, table, "times", fault.times);
}

// Exactly one of `phase`, `before` and `after`.
void read_point(TomlReader& reader, const toml::table& table, RankFault& fault) {
  const char* found = nullptr;
  for (const char* key : {"phase", "before", "after"}) {
    if (!table.contains(key)) continue;
    if (found != nullptr) {
      return reader.fail(table.get(key)->source(), std::string("has '") + found + "' and '" + key +
                                                       "': only one of 'phase', 'before' and "
                                                       "'after' says when");
    }
    found = key;
  }
  if (found == nullptr) {
    return reader.fail(table.source(), "lacks one of the keys 'phase', 'before' and 'after'");
  }
  const std::string_view key = found;
  read_count(reader, table, "number", fault.number);
  if (key != "phase") {
    fault.when = key == "before" ? RankFault::When::before : RankFault::When::after;
    fault.at = read_called(reader, table, found);
    return;
  }
  fault.when = RankFault::When::phase;
  fault.at = read_text(reader, table, found);
  if (!reader.failed() && !is_phase(fault.at)) {
    reader.fail(table.get(found)->source(),
                "'phase' is '" + fault.at + "', which is no phase; there are: " + phase_list());
  }
}

RankFault read_fault(TomlReader& reader, const toml::table& table, RankFault::Kind kind) {
  RankFault fault;
  fault.kind = kind;
  std::int64_t rank = 0;
  read_integer(reader, table, "rank", kMaxRank, rank);
  fault.rank = static_cast<int>(rank);
  if (kind == RankFault::Kind::kill || kind == RankFault::Kind::stop) {
    read_point(reader, table, fault);
    reject_others(reader, table, {"rank", "phase", "before", "after", "number"});
    return fault;
  }
  read_call(reader, table, fault);
  if (kind == RankFault::Kind::fail) {
    fault.code = read_code(reader, table);
    reject_others(reader, table, {"rank", "call", "number", "times", "code"});
    return fault;
  }
  std::int64_t ns = 0;
  read_integer(reader, table, "ns", kLargest, ns);
  fault.ns = static_cast<Ns>(ns);
  reject_others(reader, table, {"rank", "call", "number", "times", "ns"});
  return fault;
}

}  // namespace

const char* kind_name(RankFault::Kind kind) {
  switch (kind) {
    case RankFault::Kind::fail:
      return "fail";
    case RankFault::Kind::stall:
      return "stall";
    case RankFault::Kind::kill:
      return "kill";
    case RankFault::Kind::stop:
      return "stop";
  }
  return "fail";
}

std::string fault_text(const RankFault& fault, std::uint64_t number) {
  const std::string which = std::to_string(number == 0 ? fault.number : number);
  std::string text = "rank " + std::to_string(fault.rank) + ": ";
  const bool several = number == 0 && fault.times > 1;
  const std::string call = fault.at + ", call " + which +
                           (several ? " to " + std::to_string(fault.number + fault.times - 1) : "");
  switch (fault.kind) {
    case RankFault::Kind::fail:
      return text + call + ", fails with " + std::string(error_name(fault.code)) + " (" +
             std::to_string(fault.code) + ")";
    case RankFault::Kind::stall:
      return text + call + ", stalls for " + std::to_string(fault.ns) + " ns";
    case RankFault::Kind::kill:
      text += "is killed ";
      break;
    case RankFault::Kind::stop:
      text += "is stopped ";
      break;
  }
  if (fault.when == RankFault::When::phase) {
    return text + "as it begins phase " + fault.at + (fault.number > 1 ? ", time " + which : "");
  }
  return text + (fault.when == RankFault::When::before ? "before " : "after ") + call;
}

std::vector<RankFault> read_rank_faults(TomlReader& reader, const toml::table& file) {
  std::vector<RankFault> out;
  for (const auto kind : {RankFault::Kind::fail, RankFault::Kind::stall, RankFault::Kind::kill,
                          RankFault::Kind::stop}) {
    std::size_t index = 0;
    for_each_table(reader, file, kind_name(kind), [&](const toml::table& table) {
      out.push_back(read_fault(reader, table, kind));
      out.back().entry = std::string(kind_name(kind)) + "[" + std::to_string(index++) + "]";
    });
  }
  return out;
}

}  // namespace symmcts::platform

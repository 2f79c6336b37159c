#include "harness/launch/machine_log.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "harness/launch/broker_report.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::launch {
namespace {

using json = nlohmann::ordered_json;

// The broker's record, or an empty object if there is none or it cannot be read.
json broker_report(const Hang& hang) {
  json report = json::parse(hang.report, nullptr, false);
  return report.is_object() ? report : json::object();
}

// What the broker's record says of a rank under `key`, or nothing.
std::string text_of_rank(const json& report, int rank, const char* key) {
  if (!report.contains("ranks") || !report["ranks"].is_array()) return {};
  for (const json& entry : report["ranks"]) {
    if (!entry.is_object() || entry.value("rank", -1) != rank) continue;
    return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>()
                                                         : std::string();
  }
  return {};
}

// Names and words come from the ranks: bytes that are no UTF-8 must not end the supervisor.
std::string dump(const json& record) {
  return record.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool says_hang(const json& record) {
  return record.is_object() && record.contains("type") && record["type"] == "hang";
}

json hang_record(const Hang& hang, const UnitResult& result) {
  const json report = broker_report(hang);
  json record = {{"type", "hang"},
                 {"source", hang.report.empty() ? "watchdog" : "platform"},
                 {"case", result.unit}};
  record["ranks"] = json::array();
  for (const RankState& state : result.ranks) {
    const std::string reported = text_of_rank(report, state.rank, "where");
    json rank = {{"rank", state.rank},
                 {"phase", state.phase},
                 {"where", state.where.empty() ? reported : state.where}};
    const std::string calls = text_of_rank(report, state.rank, "calls");
    if (!calls.empty()) rank["calls"] = calls;
    record["ranks"].push_back(std::move(rank));
  }
  record["objects"] = report.contains("objects") ? report["objects"] : json::array();
  record["text"] = describe(hang, result.ranks);
  return record;
}

}  // namespace

const char* end_name(End end) {
  switch (end) {
    case End::done:
      return "done";
    case End::hang:
      return "hang";
    case End::crash:
      return "crash";
    case End::lost:
      return "lost";
    case End::error:
      return "error";
  }
  return "error";
}

std::string describe(const Hang& hang, const std::vector<RankState>& ranks) {
  const json report = broker_report(hang);
  std::string text = hang.why;
  if (text.empty()) {
    text = report.contains("text") && report["text"].is_string()
               ? report["text"].get<std::string>()
               : "no rank of the machine can move any more";
  }
  for (const RankState& state : ranks) {
    std::string where = text_of_rank(report, state.rank, "where");
    if (!state.where.empty()) where = state.where;
    text += "; rank " + std::to_string(state.rank) + " in phase " +
            (state.phase.empty() ? "start" : state.phase) +
            (where.empty() ? "" : " (" + where + ")");
  }
  return text;
}

bool is_hang(const std::string& line) { return says_hang(json::parse(line, nullptr, false)); }

std::vector<std::string> other_lines(const std::filesystem::path& report) {
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::string>> found;
  each_record(report, [&](const std::string& line, const json& record) {
    if (says_hang(record)) return;
    if (record.contains("type") && record["type"] == "plan") return;
    const auto number = [&](const char* key) {
      return record.contains(key) && record[key].is_number_integer()
                 ? record[key].get<std::int64_t>()
                 : std::int64_t{-1};
    };
    found.push_back({{number("t"), number("rank")}, line});
  });
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [key, line] : found) out.push_back(std::move(line));
  for (std::string& line : faults_that_never_were(report)) out.push_back(std::move(line));
  return out;
}

Status write_machine_log(const std::filesystem::path& file, const UnitResult& result,
                         const Hang* hang, const std::vector<std::string>& others) {
  std::string text;
  if (hang != nullptr) text += dump(hang_record(*hang, result)) + '\n';
  for (const std::string& line : others) text += line + '\n';
  for (const Program& program : result.programs) {
    if (program.rank < 0 || !program.ended || !program.exit.known) continue;
    json record = {{"type", "exit"}, {"rank", program.rank}, {"case", result.unit}};
    record[program.exit.signaled ? "signal" : "code"] = program.exit.value;
    text += dump(record) + '\n';
  }
  json unit = {{"type", "unit"},
               {"case", result.unit},
               {"run", result.run},
               {"ids", result.ids},
               {"end", end_name(result.end)}};
  if (!result.blamed.empty()) unit["ranks"] = result.blamed;
  if (!result.text.empty()) unit["text"] = result.text;
  Digest digest;
  digest.add(text);
  std::ofstream out(file, std::ios::trunc);
  out << text << sealed(digest, dump(unit)) << '\n';
  out.close();
  if (!out) return Error{"cannot write " + file.string()};
  return {};
}

}  // namespace symmcts::launch

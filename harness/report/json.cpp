#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/report/report.hpp"

namespace symmcts::report {
namespace {

using nlohmann::ordered_json;

constexpr const char* kSchema = "symm-cts/result/1";

ordered_json counts_json(const std::map<std::string, std::int64_t>& counts) {
  ordered_json out = ordered_json::object();
  for (const auto& [kind, count] : counts) {
    out[kind] = count;
  }
  return out;
}

// Values of a key that occurs twice are joined: an object has each key once.
ordered_json seen_json(const std::vector<std::pair<std::string, std::string>>& seen) {
  ordered_json out = ordered_json::object();
  for (const auto& [key, value] : seen) {
    out[key] = out.contains(key) ? out[key].get<std::string>() + "; " + value : value;
  }
  return out;
}

ordered_json verdict_json(const judge::Verdict& verdict) {
  ordered_json out;
  out["id"] = verdict.id;
  out["status"] = judge::name(verdict.status);
  out["ranks"] = verdict.ranks;
  out["reason"] = verdict.reason;
  out["seen"] = seen_json(verdict.seen);
  out["again"] = verdict.again;
  return out;
}

ordered_json rank_json(const judge::RankSummary& rank) {
  ordered_json out;
  out["rank"] = rank.rank;
  out["host"] = rank.host;
  out["device"] = rank.device;
  out["copies"] = counts_json(rank.copies);
  out["host_copies"] = counts_json(rank.host_copies);
  out["signals"] = counts_json(rank.signals);
  return out;
}

ordered_json report_json(const Report& report) {
  const judge::Judgement& judgement = report.judgement;
  ordered_json out;
  out["schema"] = kSchema;
  out["verb"] = report.verb;
  out["exit"] = report.exit;
  out["requirements"] = ordered_json::array();
  for (const judge::Verdict& verdict : judgement.verdicts) {
    out["requirements"].push_back(verdict_json(verdict));
  }
  out["ranks"] = ordered_json::array();
  for (const judge::RankSummary& rank : judgement.ranks) {
    out["ranks"].push_back(rank_json(rank));
  }
  // Beyond the requirements; a reader of the schema may ignore them.
  out["observations"] = ordered_json::array();
  for (const judge::Observation& observation : judgement.observations) {
    out["observations"].push_back(observation.text);
  }
  out["uncovered"] = judgement.uncovered;
  out["notes"] = judgement.notes;
  return out;
}

ordered_json half_json(const Report& half) {
  ordered_json out = report_json(half);
  out["failed"] = failed_ids(half.judgement);
  return out;
}

// Text that came out of damaged files must not make the output invalid. Everything beyond ASCII is
// escaped: JSON allows raw what a terminal obeys (DEL, U+009B).
std::string dump(const ordered_json& value) {
  return value.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<std::string> failed_ids(const judge::Judgement& judgement) {
  std::vector<std::string> ids;
  for (const judge::Verdict& verdict : judgement.verdicts) {
    if (verdict.status == judge::VerdictStatus::fail) {
      ids.push_back(verdict.id);
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string to_json(const Report& report) { return dump(report_json(report)); }

std::string to_json(const ReproReport& report) {
  ordered_json out;
  out["schema"] = kSchema;
  out["verb"] = "repro";
  out["id"] = report.id;
  out["exit"] = report.exit;
  out["before"] = half_json(report.before);
  out["after"] = half_json(report.after);
  return dump(out);
}

}  // namespace symmcts::report

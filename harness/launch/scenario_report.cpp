#include "harness/launch/scenario_report.hpp"

#include <set>

#include "harness/launch/broker_report.hpp"

namespace symmcts::launch {
namespace {

using json = nlohmann::ordered_json;

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

std::vector<Victim> read_victims(const std::filesystem::path& report) {
  std::vector<Victim> victims;
  each_record(report, [&](const std::string&, const json& record) {
    const std::string kind = text_of(record, "kind");
    if (text_of(record, "type") != "fault" || (kind != "kill" && kind != "stop")) return;
    const auto rank = record.find("rank");
    if (rank == record.end() || !rank->is_number_integer()) return;
    victims.push_back({rank->get<int>(), kind == "stop", text_of(record, "text")});
  });
  return victims;
}

std::vector<std::string> faults_that_never_were(const std::filesystem::path& report) {
  std::vector<json> planned;
  std::set<std::string> came;
  each_record(report, [&](const std::string&, const json& record) {
    if (text_of(record, "type") == "fault") came.insert(text_of(record, "entry"));
    if (text_of(record, "type") != "plan") return;
    const auto faults = record.find("faults");
    if (faults == record.end() || !faults->is_array()) return;
    for (const json& fault : *faults) planned.push_back(fault);
  });
  std::vector<std::string> lines;
  for (json& fault : planned) {
    if (!fault.is_object() || came.count(text_of(fault, "entry")) != 0) continue;
    fault["text"] = text_of(fault, "text") + ": it never came to that";
    lines.push_back(fault.dump());
  }
  return lines;
}

}  // namespace symmcts::launch

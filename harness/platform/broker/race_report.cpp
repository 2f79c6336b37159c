#include "harness/platform/broker/race_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace symmcts::platform {
namespace {

using json = nlohmann::ordered_json;

json party_json(const RaceParty& party) {
  return {{"rank", party.rank},
          {"stream", party.stream},
          {"call", party.call},
          {"corr", party.correlation},
          {"access", party.writes ? "write" : "read"},
          {"t", party.at}};
}

// The names of calls come from the clients.
std::string dump(const json& line) {
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string race_json(const Race& race) {
  json line;
  line["type"] = "race";
  line["t"] = std::max(race.first.at, race.second.at);
  line["class"] = race.certain ? "certain" : "suspect";
  line["accesses"] = {party_json(race.first), party_json(race.second)};
  line["memory"] = race.host_memory ? "host" : "device";
  line["owner"] = race.owner;
  if (!race.host_memory) line["offset"] = race.offset;
  line["bytes"] = race.bytes;
  line["count"] = race.count;
  line["text"] = race_text(race);
  return dump(line);
}

std::string race_check_json(const RaceCheckReport& report) {
  json line;
  line["type"] = "race-check";
  line["accesses"] = report.accesses;
  line["whole"] = report.whole;
  return dump(line);
}

}  // namespace symmcts::platform

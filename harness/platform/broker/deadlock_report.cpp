#include "harness/platform/broker/deadlock_report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace symmcts::platform {
namespace {

// GPUs of the machine that are not in the team. Which of them the application had in mind nobody
// but itself knows, unless exactly as many are missing.
std::vector<int> absent(const TeamView& team, int gpus) {
  std::vector<int> missing;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    if (std::find(team.added.begin(), team.added.end(), gpu) == team.added.end()) {
      missing.push_back(gpu);
    }
  }
  return missing;
}

std::string list(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text.empty() ? "none" : text;
}

std::string team_text(const TeamView& team, int gpus) {
  const std::string creator = std::to_string(team.creator);
  if (team.wanted == 0) {
    return " on an empty multicast object (imported after rank " + creator +
           " had dropped its create reference; devices added: " + list(team.added) +
           "; no number completes it)";
  }
  const std::size_t lacking = team.wanted - team.added.size();
  const std::vector<int> missing = absent(team, gpus);
  return " on the multicast object of rank " + creator + " (" + std::to_string(team.added.size()) +
         " of " + std::to_string(team.wanted) + " devices added; missing: " +
         (missing.size() == lacking ? "" : std::to_string(lacking) + " of ") + list(missing) + ")";
}

}  // namespace

std::string deadlock_text(const DeadlockReport& report) {
  std::string text = "no rank can move:";
  for (const auto& rank : report.ranks) {
    text += (&rank == report.ranks.data() ? " rank " : "; rank ") + std::to_string(rank.rank) +
            " waits in " + rank.where;
    if (rank.object) text += team_text(*rank.object, report.gpus);
    if (!rank.calls.empty()) text += " (last calls: " + rank.calls + ")";
  }
  return text;
}

std::string deadlock_json(const DeadlockReport& report) {
  nlohmann::ordered_json line;
  line["type"] = "hang";
  line["source"] = "platform";
  line["ranks"] = nlohmann::ordered_json::array();
  line["objects"] = nlohmann::ordered_json::array();
  for (const auto& rank : report.ranks) {
    line["ranks"].push_back({{"rank", rank.rank}, {"where", rank.where}, {"calls", rank.calls}});
    if (!rank.object) continue;
    nlohmann::ordered_json object;
    object["creator"] = rank.object->creator;
    // No number completes an empty one, so it waits for none.
    if (rank.object->wanted != 0) object["devices"] = rank.object->wanted;
    object["added"] = rank.object->added;
    object["missing"] = absent(*rank.object, report.gpus);
    object["empty"] = rank.object->wanted == 0;
    // Several ranks wait for one object.
    auto& objects = line["objects"];
    if (std::find(objects.begin(), objects.end(), object) == objects.end()) {
      objects.push_back(std::move(object));
    }
  }
  line["text"] = deadlock_text(report);
  // The names come from the clients.
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace symmcts::platform

#include "harness/platform/model/race_book.hpp"

#include <utility>

namespace symmcts::platform {
namespace {

// Pairs of calls that are told apart. A program with more has been told often enough.
constexpr std::size_t kMost = 1000;

auto sorts_by(const RaceParty& party) {
  return std::tie(party.rank, party.stream, party.call, party.writes);
}

std::string text(const RaceParty& party) {
  return "rank " + std::to_string(party.rank) + " " + party.call + " (stream " +
         std::to_string(party.stream) + ", call " + std::to_string(party.correlation) + ") " +
         (party.writes ? "writes" : "reads");
}

}  // namespace

std::string race_text(const Race& race) {
  std::string out = std::string(race.certain ? "race" : "suspected race") + ": " +
                    text(race.first) + ", " + text(race.second) + " " + std::to_string(race.bytes) +
                    " bytes of ";
  if (race.host_memory) {
    out += "host memory";
  } else {
    out += "memory of rank " + std::to_string(race.owner) + " at offset " +
           std::to_string(race.offset);
  }
  out += race.certain ? ", and nothing orders them"
                      : ", ordered at most by messages that the platform does not see";
  if (race.count > 1) out += " (" + std::to_string(race.count) + " times)";
  return out;
}

void RaceBook::add(Race race) {
  if (sorts_by(race.second) < sorts_by(race.first)) std::swap(race.first, race.second);
  const Key key{race.first.rank,   race.first.stream,  race.first.call,
                race.first.writes, race.second.rank,   race.second.stream,
                race.second.call,  race.second.writes, race.certain};
  const auto found = races_.find(key);
  if (found != races_.end()) {
    ++found->second.race.count;
  } else if (races_.size() < kMost) {
    races_.emplace(key, Entry{std::move(race)});
  }
}

std::vector<Race> RaceBook::take_new() {
  std::vector<Race> out;
  for (auto& [key, entry] : races_) {
    if (!std::exchange(entry.taken, true)) out.push_back(entry.race);
  }
  return out;
}

}  // namespace symmcts::platform

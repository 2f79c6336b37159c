#include "harness/judge/incidents.hpp"

#include <algorithm>
#include <set>

#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using evidence::HungRank;
using evidence::RankEvidence;

std::string last_phase(const RankEvidence& rank) {
  std::string phase;
  for (const evidence::Mark& mark : rank.marks) {
    if (mark.what == "phase") {
      phase = mark.phase;
    }
  }
  return phase;
}

// The call that was entered and never came back.
std::string open_call(const RankEvidence& rank) {
  std::set<std::int64_t> ended;
  for (const evidence::Call& call : rank.calls) {
    ended.insert(call.seq);
  }
  std::string name;
  for (const evidence::Enter& enter : rank.enters) {
    if (ended.count(enter.seq) == 0) {
      name = enter.name;
    }
  }
  return name;
}

void complete(const evidence::EvidenceSet& set, std::vector<HungRank>& ranks) {
  for (const RankEvidence& rank : set.ranks) {
    auto at = std::find_if(ranks.begin(), ranks.end(),
                           [&](const HungRank& hung) { return hung.rank == rank.rank(); });
    if (at == ranks.end()) {
      if (rank.footer) {
        continue;  // it had ended by itself
      }
      at = ranks.insert(at, {rank.rank(), "", "", ""});
    }
    if (at->phase.empty()) {
      at->phase = last_phase(rank);
    }
    if (at->where.empty()) {
      at->where = open_call(rank);
    }
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const HungRank& a, const HungRank& b) { return a.rank < b.rank; });
}

std::string object_text(const evidence::HungObject& object) {
  std::string text = object.empty ? "an empty object" : "an object";
  if (!object.creator.empty()) {
    text += (object.empty ? " that replaced the one of " : " of ") + object.creator;
  }
  if (object.devices != evidence::kAbsent) {
    text += " for " + count_text(object.devices, "device");
  }
  if (!object.missing.empty()) {
    std::vector<std::string> missing;
    for (const std::string& device : object.missing) {
      const bool number = device.find_first_not_of("0123456789") == std::string::npos;
      missing.push_back(number ? "device " + device : device);
    }
    text += ", missing: " + join(missing, ", ");
  }
  return text;
}

bool unit_ended(const evidence::EvidenceSet& set, const char* end) {
  return std::any_of(set.machine.units.begin(), set.machine.units.end(),
                     [end](const evidence::UnitEnd& unit) { return unit.end == end; });
}

}  // namespace

std::string Hanging::text() const {
  std::vector<std::string> parts;
  for (const HungRank& rank : ranks) {
    std::string part = "rank " + std::to_string(rank.rank);
    part += rank.where.empty() ? " stands" : " waits in " + rank.where;
    part += rank.phase.empty() ? " (phase unknown)" : " (phase " + rank.phase + ")";
    parts.push_back(std::move(part));
  }
  std::string text = parts.empty() ? "no rank is known" : join(parts, ", ");
  for (const std::string& object : objects) {
    text += "; " + object;
  }
  return text;
}

std::vector<Hanging> read_hangs(const evidence::EvidenceSet& set) {
  std::vector<Hanging> hangs;
  for (const evidence::Hang& hang : set.machine.hangs) {
    Hanging out;
    out.ranks = hang.ranks;
    out.source_text = hang.text;
    for (const evidence::HungObject& object : hang.objects) {
      out.empty_object = out.empty_object || object.empty;
      out.objects.push_back(object_text(object));
    }
    complete(set, out.ranks);
    hangs.push_back(std::move(out));
  }
  if (hangs.empty() && unit_ended(set, "hang")) {
    Hanging out;
    complete(set, out.ranks);
    hangs.push_back(std::move(out));
  }
  return hangs;
}

std::vector<std::string> read_crashes(const evidence::EvidenceSet& set) {
  std::vector<std::string> crashes;
  // After a hang or a harness error the supervisor itself ends the ranks. What became of ranks that
  // the scenario took away, and of those that ended over it, is no crash.
  if (lost_ranks(set) || !set.machine.hangs.empty() || unit_ended(set, "hang") ||
      unit_ended(set, "error")) {
    return crashes;
  }
  for (const evidence::UnitEnd& unit : set.machine.units) {
    if (unit.end == "crash" && !unit.text.empty()) {
      crashes.push_back(unit.text);
    }
  }
  if (!crashes.empty()) {
    return crashes;
  }
  for (const evidence::Exit& exit : set.machine.exits) {
    if (exit.signal == 0 && exit.code == 0) {
      continue;
    }
    std::string text = "rank " + std::to_string(exit.rank);
    text += exit.signal != 0 ? " was ended by signal " + std::to_string(exit.signal)
                             : " exited with code " + std::to_string(exit.code);
    for (const RankEvidence& rank : set.ranks) {
      if (rank.rank() == exit.rank && !last_phase(rank).empty()) {
        text += " (phase " + last_phase(rank) + ")";
      }
    }
    crashes.push_back(std::move(text));
  }
  if (crashes.empty() && unit_ended(set, "crash")) {
    crashes.push_back("a rank ended before its work was done");
  }
  return crashes;
}

bool lost_ranks(const evidence::EvidenceSet& set) { return unit_ended(set, "lost"); }

std::vector<int> crashed_ranks(const evidence::EvidenceSet& set) {
  std::set<int> ranks;
  for (const evidence::UnitEnd& unit : set.machine.units) {
    ranks.insert(unit.ranks.begin(), unit.ranks.end());
  }
  return {ranks.begin(), ranks.end()};
}

std::vector<std::string> read_failed_steps(const evidence::EvidenceSet& set) {
  std::vector<std::string> steps;
  for (const RankEvidence& rank : set.ranks) {
    for (const evidence::Mark& mark : rank.marks) {
      if (mark.what != "outcome" || mark.ok) {
        continue;
      }
      std::string text = "rank " + std::to_string(rank.rank()) + " in " +
                         (mark.call.empty() ? "a call" : mark.call) + " with code " +
                         std::to_string(mark.code);
      text += " (phase " + (mark.phase.empty() ? "unknown" : mark.phase) + ")";
      steps.push_back(text + (mark.text.empty() ? "" : ": " + mark.text));
    }
  }
  return steps;
}

bool covers_hangs(const std::string& id) {
  return id == "SM-SIG-4" || id.rfind("SM-AGRE-", 0) == 0;
}

std::vector<std::string> read_errors(const evidence::EvidenceSet& set) {
  std::vector<std::string> errors;
  for (const evidence::UnitEnd& unit : set.machine.units) {
    if (unit.end != "error") {
      continue;
    }
    std::string text = "harness error";
    if (!unit.text.empty()) {
      text += ": " + unit.text;
    }
    for (const evidence::Exit& exit : set.machine.exits) {
      if (exit.code != 0 && unit.text.empty()) {
        text += "; rank " + std::to_string(exit.rank) + " exited with code " +
                std::to_string(exit.code);
      }
    }
    errors.push_back(std::move(text));
  }
  return errors;
}

}  // namespace symmcts::judge

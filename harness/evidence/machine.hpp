#pragma once

#include <string>
#include <vector>

#include "harness/evidence/model.hpp"

namespace symmcts::evidence {

// Where a rank stood when nothing could move any more.
struct HungRank {
  int rank = -1;
  std::string phase;
  std::string where;    // the call that blocks, or "exchange"
  std::string calls{};  // its last driver calls, where the platform said them
};

// A multicast object that somebody waits for.
struct HungObject {
  std::string creator;
  std::int64_t devices = kAbsent;    // how many the object was made for
  std::vector<std::string> missing;  // devices or ranks that were not added
  bool empty = false;                // a fresh object that a late import got
};

struct Hang {
  std::string source;  // "platform": nothing can move; "watchdog": the deadline passed
  std::string case_name;
  std::vector<HungRank> ranks;
  std::vector<HungObject> objects;
  std::string text;
};

struct Exit {
  int rank = -1;
  std::string case_name;
  int code = 0;
  int signal = 0;  // 0: ended by itself with `code`
};

struct UnitEnd {
  std::string case_name;
  std::string run;  // as in the ranks' headers
  std::vector<std::string> ids;
  std::string end;  // "done", "hang", "crash", "lost", "error"
  std::string text;
  std::vector<int> ranks;  // of a crash: whose doing it was, where that is known
};

// What a process did with the driver that a real one crashes on or never hears of.
struct Misuse {
  int rank = -1;
  std::string kind;  // "garbage-handle", "use-after-release", "double-release", "leak"
  std::string what;  // "physical handle", "mapping", ...
  std::string call;
  std::int64_t t = 0;  // of the call; of a leak, of the one that made the first thing left
  std::int64_t count = 1;
  std::string text;
};

// A fault of the scenario, and what became of it.
struct ScenarioFault {
  int rank = -1;
  std::int64_t t = kAbsent;  // the rank's host clock; kAbsent: it never came to be
  std::string entry;         // the scenario's table: "fail[0]"
  std::string kind;          // "fail", "stall", "kill", "stop"
  std::string when;          // "before", "after", "phase"
  std::string at;            // the driver function, or the phase
  std::int64_t number = 1;   // which call of it, or which beginning, on that rank
  std::int64_t code = 0;     // of fail
  std::int64_t ns = 0;       // of stall
  std::string text;

  bool came_to_be() const { return t != kAbsent; }
};

// One of the two calls of a race.
struct RaceParty {
  int rank = -1;
  std::int64_t stream = kAbsent;
  std::string call;
  std::int64_t correlation = kAbsent;
  std::string access;  // "read" or "write"
};

// Two calls that touch the same bytes and that no edge orders.
struct Race {
  bool certain = false;  // else the ranks may have told each other by means that nobody sees
  std::vector<RaceParty> accesses;  // two
  std::int64_t bytes = 0;
  std::int64_t count = 1;
  std::string text;
};

// The search for races has ended.
struct RaceCheck {
  std::int64_t accesses = 0;  // of device work to memory, that were looked at
  bool whole = false;         // every process told all it did
};

// What the machine or the supervisor knows and no rank can say (machine.jsonl).
struct MachineEvidence {
  std::string file;
  bool cut = false;  // the file does not end with a `unit` line
  std::vector<Hang> hangs;
  std::vector<Exit> exits;
  std::vector<UnitEnd> units;
  std::vector<Misuse> misuses;
  std::vector<ScenarioFault> faults;
  std::vector<Race> races;
  std::vector<RaceCheck> race_checks;
  std::vector<std::string> notes;
};

// The evidence of one unit: all ranks of one run of one case, or the files given to `check`.
// `ranks` is sorted by rank and holds each rank at most once.
struct EvidenceSet {
  std::string unit;
  std::vector<RankEvidence> ranks;
  MachineEvidence machine;
  int world = -1;  // largest world any file names; -1 where none does
};

}  // namespace symmcts::evidence

// SM-LIFE-1: the create reference of a multicast object outlives every peer's import, however late
// a peer imports. torchcomms#3506: the creator released it right after its self-import; a late
// importer got a fresh, empty object, and every rank hung in cuMulticastBindMem.
#include <algorithm>

#include "harness/judge/incidents.hpp"
#include "harness/judge/rules.hpp"
#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using evidence::Call;

// Everything about one multicast object that its creator made.
struct ObjectLife {
  int creator = -1;
  std::string group;
  const Call* released = nullptr;  // the create reference; null: never, as far as is shown
  std::vector<int> imported;       // in time
  std::vector<int> late;           // after the release had begun
  std::vector<int> apart;          // clocks of different hosts cannot be compared
  bool by_descriptor = false;      // some import came by POSIX_FD
  bool exported = false;
};

struct Imports {
  const Context& context;

  // Adds what rank number `i` did with the tokens of the object.
  void add(std::size_t i, std::size_t creator, const std::vector<std::string>& tokens,
           ObjectLife& life) const {
    const evidence::RankEvidence& rank = context.set.ranks[i];
    const evidence::Header& home = context.set.ranks[creator].header;
    for (const auto& [number, handle] : context.objects[i].handles) {
      if (handle.provenance != Provenance::imported || !handle.multicast) {
        continue;
      }
      if (handle.route == "fd") {
        life.by_descriptor = true;
        life.imported.push_back(rank.rank());
        continue;
      }
      if (std::find(tokens.begin(), tokens.end(), handle.token) == tokens.end()) {
        continue;
      }
      if (life.released != nullptr && handle.made->t1 > life.released->t0) {
        const bool comparable = home.clock == "virtual" || home.host == rank.header.host;
        (comparable ? life.late : life.apart).push_back(rank.rank());
      } else {
        life.imported.push_back(rank.rank());
      }
    }
  }
};

std::string group_before(const evidence::RankEvidence& rank, std::size_t line) {
  std::string group;
  for (const evidence::Mark& mark : rank.marks) {
    if (mark.what == "group" && mark.line < line) {
      group = mark.group;
    }
  }
  return group;
}

std::vector<ObjectLife> read_lives(const Context& context) {
  std::vector<ObjectLife> lives;
  for (std::size_t creator = 0; creator < context.set.ranks.size(); ++creator) {
    for (const auto& [number, handle] : context.objects[creator].handles) {
      if (handle.provenance != Provenance::native || !handle.multicast || handle.made == nullptr) {
        continue;
      }
      ObjectLife life;
      life.creator = context.set.ranks[creator].rank();
      life.group = group_before(context.set.ranks[creator], handle.made->line);
      life.released = handle.released;
      std::vector<std::string> tokens;
      for (const ExportFact& fact : context.objects[creator].exports) {
        if (fact.handle == number) {
          life.exported = true;
          if (!fact.token.empty()) {
            tokens.push_back(fact.token);
          }
        }
      }
      for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
        Imports{context}.add(i, creator, tokens, life);
      }
      lives.push_back(std::move(life));
    }
  }
  return lives;
}

// Ranks of the object's group of which no import is shown.
std::vector<int> without_import(const Context& context, const ObjectLife& life) {
  std::vector<int> without;
  for (const int rank : group_ranks(context.set, life.group)) {
    const bool seen = rank == life.creator || std::find(life.imported.begin(), life.imported.end(),
                                                        rank) != life.imported.end();
    if (!seen) {
      without.push_back(rank);
    }
  }
  return without;
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// An empty object shows when its users wait for the others' devices, or map it.
bool in_bind_or_map(const evidence::HungRank& rank) {
  return rank.phase == "bind" || rank.phase == "map" ||
         starts_with(rank.where, "cuMulticastBind") || rank.where == "cuMemMap";
}

bool explained(const Hanging& hang, bool late) {
  return hang.empty_object ||
         (late && std::any_of(hang.ranks.begin(), hang.ranks.end(), in_bind_or_map));
}

void fail_for_hang(const Hanging& hang, const std::string& cause, Verdict& verdict) {
  verdict.status = VerdictStatus::fail;
  verdict.reason = "hang: " + cause + hang.text();
  verdict.ranks.clear();
  for (const evidence::HungRank& rank : hang.ranks) {
    verdict.ranks.push_back(rank.rank);
    verdict.seen.emplace_back("rank " + std::to_string(rank.rank),
                              "phase " + (rank.phase.empty() ? "unknown" : rank.phase) +
                                  (rank.where.empty() ? "" : ", in " + rank.where));
  }
}

}  // namespace

bool lifetime_explains_hang(const Context& context) {
  const std::vector<ObjectLife> lives = read_lives(context);
  const bool late = std::any_of(lives.begin(), lives.end(),
                                [](const ObjectLife& life) { return !life.late.empty(); });
  const std::vector<Hanging> hangs = read_hangs(context.set);
  return std::any_of(hangs.begin(), hangs.end(),
                     [late](const Hanging& hang) { return explained(hang, late); });
}

std::vector<Verdict> judge_lifetime(const Context& context) {
  Verdict verdict = unknown_verdict("SM-LIFE-1");
  const std::vector<ObjectLife> lives = read_lives(context);
  std::vector<std::string> late;
  std::vector<std::string> unclear;
  std::vector<std::string> notes;
  std::vector<int> creators;
  for (const ObjectLife& life : lives) {
    if (!life.late.empty()) {
      creators.push_back(life.creator);
      late.push_back("rank " + std::to_string(life.creator) +
                     " released its create reference before " + ranks_text(life.late) +
                     " had imported the object");
    }
    const std::vector<int> without = without_import(context, life);
    if (!life.apart.empty()) {
      unclear.push_back("clocks of different hosts cannot order the release and the imports of " +
                        ranks_text(life.apart));
    } else if (!without.empty() && life.late.empty()) {
      unclear.push_back("no import of the object of rank " + std::to_string(life.creator) +
                        " is shown for " + ranks_text(without));
    } else if (life.imported.empty() && life.late.empty()) {
      unclear.push_back("nothing imported: no rank imported the object of rank " +
                        std::to_string(life.creator));
    }
    if (life.by_descriptor) {
      notes.push_back("POSIX_FD: an open descriptor keeps the object alive");
    }
    if (life.released == nullptr) {
      notes.push_back("the create reference of rank " + std::to_string(life.creator) +
                      " is never released");
    }
  }
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  const std::string note = notes.empty() ? "" : " (" + join(notes, "; ") + ")";
  const std::vector<Hanging> hangs = read_hangs(context.set);
  for (const Hanging& hang : hangs) {
    if (explained(hang, !late.empty())) {
      fail_for_hang(hang,
                    (late.empty() ? "a late import got an empty object"
                                  : join(late, "; ") + ", which got an empty object") +
                        std::string("; "),
                    verdict);
      return {verdict};
    }
  }
  const bool blind = std::any_of(context.set.ranks.begin(), context.set.ranks.end(),
                                 [](const auto& rank) { return !rank.shows.provenance; });
  if (!late.empty()) {
    verdict.status = VerdictStatus::fail;
    verdict.ranks = creators;
    verdict.reason = join(late, "; ");
  } else if (blind) {
    verdict.reason = "the source shows no handles";
  } else if (lives.empty()) {
    verdict.reason = "no multicast object in the evidence";
  } else if (!unclear.empty()) {
    verdict.reason = join(unclear, "; ");
  } else {
    verdict.status = VerdictStatus::pass;
    verdict.ranks = context.present_ranks();
    verdict.reason = "every import of " +
                     count_text(static_cast<std::int64_t>(lives.size()), "multicast object") +
                     " came before the release of its create reference" + note;
  }
  return {verdict};
}

}  // namespace symmcts::judge

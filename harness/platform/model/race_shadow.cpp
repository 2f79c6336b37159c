#include "harness/platform/model/race_shadow.hpp"

#include <algorithm>

namespace symmcts::platform {
namespace {

// Accesses of one cell that are kept. More would have to be unordered among themselves.
constexpr std::size_t kMostWrites = 64;
constexpr std::size_t kMostReads = 1024;

bool is_word(const RaceActor& actor) {
  return actor.kind == RaceOp::Kind::word_write || actor.kind == RaceOp::Kind::word_wait;
}

// Words are written and waited for at once by design, and so may be the flag that a short copy is.
bool conflict(const RaceActor& a, const RaceActor& b) {
  if (is_word(a) && is_word(b)) return false;
  const auto flag = [](const RaceActor& one, const RaceActor& other) {
    return one.kind == RaceOp::Kind::word_wait && other.kind == RaceOp::Kind::short_copy;
  };
  return !flag(a, b) && !flag(b, a);
}

bool before(const RaceActor& first, const RaceActor& second) {
  return second.clock.knows(first.clock.line(), first.clock.tick());
}

// Whatever is not ordered behind `old` is not ordered behind `now` either; is it a race with
// `now`, too, whenever it is one with `old`?
bool stands_for(const RaceActor& now, bool now_writes, const RaceActor& old, bool old_writes) {
  if (!before(old, now)) return false;
  if (old_writes && !now_writes) return false;
  if (!is_word(now)) return now.kind == RaceOp::Kind::plain || old.kind != RaceOp::Kind::plain;
  return is_word(old);
}

void add(std::vector<RaceActorPtr>& list, const RaceActorPtr& actor, std::size_t most) {
  if (std::find(list.begin(), list.end(), actor) != list.end()) return;
  if (list.size() >= most) list.erase(list.begin());
  list.push_back(actor);
}

}  // namespace

void RaceShadow::cut(Cells& cells, std::uint64_t at) {
  auto cell = cells.upper_bound(at);
  if (cell == cells.begin()) return;
  --cell;
  if (cell->first == at || cell->second.end <= at) return;
  Cell rest = cell->second;
  cell->second.end = at;
  cells.emplace(at, std::move(rest));
}

void RaceShadow::access(const RaceActorPtr& actor, const RacePlace& place, bool write,
                        const Found& found) {
  if (place.size == 0 || place.offset + place.size < place.offset) return;
  Cells& cells = spaces_[place.space];
  const std::uint64_t end = place.offset + place.size;
  cut(cells, place.offset);
  cut(cells, end);
  for (std::uint64_t at = place.offset; at < end;) {
    auto cell = cells.lower_bound(at);
    if (cell == cells.end() || cell->first > at) {
      const std::uint64_t gap = cell == cells.end() ? end : std::min(end, cell->first);
      cell = cells.emplace(at, Cell{gap, {}, {}}).first;
    }
    Cell& here = cell->second;
    const RacePlace bytes{place.space, at, here.end - at};
    const auto look = [&](std::vector<RaceActorPtr>& list, bool list_writes) {
      std::erase_if(list, [&](const RaceActorPtr& old) {
        if (old == actor) return false;
        if ((write || list_writes) && conflict(*old, *actor) && !before(*old, *actor)) {
          found(old, list_writes, actor, write, bytes);
        }
        return stands_for(*actor, write, *old, list_writes);
      });
    };
    look(here.writes, true);
    look(here.reads, false);
    if (write) {
      add(here.writes, actor, kMostWrites);
    } else {
      add(here.reads, actor, kMostReads);
    }
    at = here.end;
  }
}

std::vector<RaceActorPtr> RaceShadow::writes(const RacePlace& place) const {
  std::vector<RaceActorPtr> out;
  const auto space = spaces_.find(place.space);
  if (space == spaces_.end()) return out;
  const Cells& cells = space->second;
  auto cell = cells.upper_bound(place.offset);
  if (cell != cells.begin() && std::prev(cell)->second.end > place.offset) --cell;
  for (; cell != cells.end() && cell->first < place.offset + place.size; ++cell) {
    out.insert(out.end(), cell->second.writes.begin(), cell->second.writes.end());
  }
  return out;
}

}  // namespace symmcts::platform

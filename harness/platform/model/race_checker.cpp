#include "harness/platform/model/race_checker.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <tuple>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kWord = 4;
// Writes of one word that are kept for waits that come to them late.
constexpr std::size_t kMostEntries = 64;
constexpr std::size_t kMostSights = 64;
// Host memory of a process is a space of its own; ids of allocations have no such top bits.
constexpr std::uint64_t kHostSpace = std::uint64_t{1} << 63;

std::uint64_t space_of(ClientId client, const RaceAccess& access) {
  return access.allocation != 0 ? access.allocation : kHostSpace | client;
}

int owner_of(std::uint64_t space) {
  return rank_of((space & kHostSpace) != 0 ? static_cast<ClientId>(space)
                                           : static_cast<ClientId>(space >> 32));
}

// At one time: what writes, what waits for it, what the host has seen of both and says, what
// another hears of that.
int turn(const RaceOp& op) { return op.kind == RaceOp::Kind::word_wait ? 1 : 0; }
int turn(const RaceHost& host) { return host.kind == RaceHost::Kind::heard ? 3 : 2; }

}  // namespace

void RaceChecker::add(ClientId client, Record record) {
  Process& process = processes_[client];
  const auto* host = std::get_if<RaceHost>(&record);
  if (host != nullptr && host->kind == RaceHost::Kind::stopped) {
    process.stopped = true;
    return;
  }
  ++waiting_;
  if (host != nullptr) {
    process.hosts.push_back(std::move(std::get<RaceHost>(record)));
  } else {
    auto& op = std::get<RaceOp>(record);
    ++process.seen_by_waiting[op.seen];
    process.ops.push_back(std::move(op));
  }
}

void RaceChecker::gone(ClientId client) {
  const auto found = processes_.find(client);
  if (found == processes_.end()) return;  // it has done nothing
  found->second.gone = true;
  if (!found->second.stopped) whole_ = false;
}

void RaceChecker::push(std::vector<Head>& heads, ClientId client, const Process& process,
                       bool host) const {
  if (host ? process.hosts.empty() : process.ops.empty()) return;
  Head head;
  if (host) {
    const RaceHost& next = process.hosts.front();
    head = {when(next.at), turn(next), client, process.hosts_taken, true};
  } else {
    const RaceOp& next = process.ops.front();
    head = {when(next.ended), turn(next), client, process.ops_taken, false};
  }
  heads.push_back(head);
  std::push_heap(heads.begin(), heads.end(), std::greater<>());
}

void RaceChecker::take_host(ClientId client, Process& process) {
  const RaceHost next = std::move(process.hosts.front());
  process.hosts.pop_front();
  ++process.hosts_taken;
  --waiting_;
  take(client, process, next);
}

void RaceChecker::run() {
  std::vector<Head> heads;
  for (const auto& [client, process] : processes_) {
    push(heads, client, process, false);
    push(heads, client, process, true);
  }
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end(), std::greater<>());
    const Head head = heads.back();
    heads.pop_back();
    Process& process = processes_.at(head.client);
    if (head.taken == (head.host ? process.hosts_taken : process.ops_taken)) {
      if (head.host) {
        take_host(head.client, process);
      } else {
        const RaceOp next = std::move(process.ops.front());
        process.ops.pop_front();
        ++process.ops_taken;
        --waiting_;
        // Its submission comes after what the host had seen by then, at the same time perhaps.
        while (process.hosts_taken < next.seen && !process.hosts.empty()) {
          take_host(head.client, process);
        }
        take(head.client, process, next);
        const auto seen = process.seen_by_waiting.find(next.seen);
        if (--seen->second == 0) process.seen_by_waiting.erase(seen);
      }
    }
    push(heads, head.client, process, head.host);
  }
}

// --- clocks

// So that the clocks of all processes together stay small.
std::size_t RaceChecker::window() const {
  return std::max<std::size_t>(64, 65'536 / std::max<std::size_t>(1, processes_.size()));
}

RaceClock RaceChecker::everything(const Process& process) const {
  RaceClock all;
  for (const auto& [stream, line] : process.lines) all.join(line.last);
  for (const Line& line : process.free_lines) all.join(line.last);
  all.join(process.host.back());
  return all;
}

const RaceClock& RaceChecker::clock_at(Process& process, std::uint64_t id) {
  const auto found = process.clocks.find(id);
  if (found != process.clocks.end()) return found->second;
  return process.clocks[id] = everything(process);
}

RaceClock& RaceChecker::host_clock(Process& process, std::uint64_t seen) {
  const std::uint64_t last = process.first_seen + process.host.size() - 1;
  const std::uint64_t at = std::clamp(seen, process.first_seen, last);
  return process.host[at - process.first_seen];
}

RaceChecker::Line& RaceChecker::line_of(Process& process, const RaceOp& op, const RaceClock& host) {
  const auto [found, fresh] = process.lines.try_emplace(op.stream);
  Line& line = found->second;
  if (!fresh) return line;
  // The line of a stream that is gone goes on, where its work is over for whoever made this one.
  const auto over = std::find_if(
      process.free_lines.begin(), process.free_lines.end(),
      [&](const Line& free) { return free.ticks == 0 || host.knows(free.index, free.ticks); });
  if (over != process.free_lines.end()) {
    line = std::move(*over);
    process.free_lines.erase(over);
  } else {
    line.index = lines_++;
  }
  return line;
}

RaceClock RaceChecker::clock_of(ClientId client, Process& process, const RaceOp& op) {
  const RaceClock& host = host_clock(process, op.seen);
  Line& line = line_of(process, op, host);
  RaceClock clock = line.last;
  clock.join(host);
  for (const std::uint64_t id : op.after) clock.join(clock_at(process, id));
  clock.enter(line.index, ++line.ticks);
  clock.submitted(when(op.submitted));
  if (op.kind == RaceOp::Kind::word_wait) {
    for (const RaceAccess& access : op.accesses) {
      acquire(op, {space_of(client, access), access.offset, access.size}, clock);
    }
  }
  line.last = clock;
  process.clocks[op.id] = clock;
  process.recent.push_back(op.id);
  if (process.recent.size() > window()) {
    process.clocks.erase(process.recent.front());
    process.recent.pop_front();
  }
  return clock;
}

// --- words

void RaceChecker::acquire(const RaceOp& wait, const RacePlace& word, RaceClock& clock) {
  bool any = false;
  for (std::uint64_t at = word.offset; at < word.offset + word.size; at += kWord) {
    const auto cell = words_.find({word.space, at});
    if (cell == words_.end()) continue;
    // What it read is the last write that it could see (WordLog::wait).
    const WordEntry* read = nullptr;
    for (const WordEntry& entry : cell->second) {
      if (entry.visible <= wait.ended.at) read = &entry;
    }
    if (read == nullptr) continue;
    clock.join(read->clock);
    any = true;
  }
  if (any) return;
  // Content from before anybody took it for a word.
  for (const RaceActorPtr& actor : shadow_.writes(word)) {
    if (actor->kind == RaceOp::Kind::word_write) continue;
    if (actor->ended.at + visible_ns_ <= wait.ended.at) clock.join(actor->clock);
  }
}

void RaceChecker::log_word(ClientId client, const RaceOp& op, const RacePlace& place,
                           const RaceClock& clock) {
  const bool all = op.kind != RaceOp::Kind::plain;
  const std::uint64_t end = place.offset + place.size;
  const auto log = [&](std::deque<WordEntry>& entries) {
    const WordEntry entry{op.ended.at + visible_ns_, rank_of(client), clock};
    const auto later = [](const WordEntry& a, const WordEntry& b) {
      return std::tie(a.visible, a.rank) < std::tie(b.visible, b.rank);
    };
    entries.insert(std::upper_bound(entries.begin(), entries.end(), entry, later), entry);
    if (entries.size() > kMostEntries) entries.pop_front();
  };
  if (all) {
    for (std::uint64_t at = place.offset / kWord * kWord; at < end; at += kWord) {
      log(words_[{place.space, at}]);
    }
    return;
  }
  const std::uint64_t first = place.offset / kWord * kWord;
  for (auto cell = words_.lower_bound({place.space, first});
       cell != words_.end() && cell->first < Cell{place.space, end}; ++cell) {
    log(cell->second);
  }
}

// --- records

void RaceChecker::take(ClientId client, Process& process, const RaceOp& op) {
  const RaceClock clock = clock_of(client, process, op);
  if (op.accesses.empty()) return;
  auto actor = std::make_shared<const RaceActor>(
      RaceActor{rank_of(client), op.stream, op.kind, op.call, op.correlation, op.ended, clock});
  const auto found = [this](const RaceActorPtr& first, bool first_writes,
                            const RaceActorPtr& second, bool second_writes,
                            const RacePlace& bytes) {
    report(first, first_writes, second, second_writes, bytes);
  };
  for (const RaceAccess& access : op.accesses) {
    const RacePlace place{space_of(client, access), access.offset, access.size};
    ++accesses_;
    shadow_.access(actor, place, access.write != 0, found);
    if (access.write == 0) continue;
    if (access.allocation != 0) {
      log_word(client, op, place, clock);
    } else {
      // The host may look at its memory without asking the driver.
      see(process, when(op.ended), clock);
    }
  }
}

void RaceChecker::take(ClientId client, Process& process, const RaceHost& host) {
  RaceClock clock = process.host.back();
  switch (host.kind) {
    case RaceHost::Kind::joined:
      for (const std::uint64_t id : host.ids) clock.join(clock_at(process, id));
      see(process, when(host.at), clock);
      break;
    case RaceHost::Kind::sent:
      for (const std::uint64_t stamp : host.ids) {
        Letter& letter = letters_[{host.to, stamp}];
        letter.clock.join(clock);
        ++letter.count;
      }
      break;
    case RaceHost::Kind::heard:
      for (const std::uint64_t stamp : host.ids) {
        const auto letter = letters_.find({rank_of(client), stamp});
        if (letter == letters_.end()) continue;
        clock.join(letter->second.clock);
        if (--letter->second.count == 0) letters_.erase(letter);
      }
      break;
    case RaceHost::Kind::ended:
      for (const std::uint64_t stream : host.ids) {
        const auto line = process.lines.find(static_cast<std::uint32_t>(stream));
        if (line == process.lines.end()) continue;
        process.free_lines.push_back(line->second);
        process.lines.erase(line);
      }
      break;
    case RaceHost::Kind::stopped:
      break;
  }
  process.host.push_back(std::move(clock));
  // Work that was done early by the wall clock may end late by virtual time: it waits here.
  std::uint64_t oldest = host.oldest;
  if (!process.seen_by_waiting.empty()) {
    oldest = std::min(oldest, process.seen_by_waiting.begin()->first);
  }
  while (process.host.size() > 1 && process.first_seen < oldest) {
    process.host.pop_front();
    ++process.first_seen;
  }
}

// --- findings

void RaceChecker::see(Process& process, Ns at, const RaceClock& clock) {
  process.sights.push_back({at, clock});
  if (process.sights.size() > kMostSights) process.sights.pop_front();
}

bool RaceChecker::told(const RaceActor& first, const RaceActor& second) const {
  const Ns until = second.clock.latest();
  for (const auto& [client, process] : processes_) {
    for (const Seen& sight : process.sights) {
      if (sight.when <= until && sight.clock.knows(first.clock.line(), first.clock.tick())) {
        return true;
      }
    }
    // What it had seen so early has been forgotten: nobody can say that it had not seen that.
    const bool forgotten =
        process.sights.size() == kMostSights && process.sights.front().when > until;
    if (forgotten && when(first.ended) <= until) return true;
  }
  return false;
}

void RaceChecker::report(const RaceActorPtr& first, bool first_writes, const RaceActorPtr& second,
                         bool second_writes, const RacePlace& bytes) {
  if (!whole_) return;
  Race race;
  const auto party = [](const RaceActor& actor, bool writes) {
    return RaceParty{actor.rank,        actor.stream, actor.call,
                     actor.correlation, writes,       actor.ended.at};
  };
  race.first = party(*first, first_writes);
  race.second = party(*second, second_writes);
  // Each may be the earlier one: they were worked off in order of their ends.
  race.certain = !told(*first, *second) && !told(*second, *first);
  race.owner = owner_of(bytes.space);
  race.host_memory = (bytes.space & kHostSpace) != 0;
  race.offset = race.host_memory ? 0 : bytes.offset;
  race.bytes = bytes.size;
  book_.add(std::move(race));
}

}  // namespace symmcts::platform

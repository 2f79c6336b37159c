#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/race_book.hpp"
#include "harness/platform/model/race_clock.hpp"
#include "harness/platform/model/race_log.hpp"
#include "harness/platform/model/race_shadow.hpp"

namespace symmcts::platform {

// Finds races in what all processes of a machine tell: merges their logs in order of time, keeps a
// vector clock for every edge that orders device work (streams, events, the words that waits have
// read, what hosts have seen, messages of the exchange), and looks at each access for earlier ones
// that it does not know. Threads of one process count as ordered by their calls.
//
// The answer depends on nothing but the logs: on a managed machine two runs with one seed give the
// same. Not thread safe.
class RaceChecker {
 public:
  // `visible_ns`: from the end of a write until waits see it (WordLog).
  explicit RaceChecker(Ns visible_ns) : visible_ns_(visible_ns) {}

  using Record = std::variant<RaceOp, RaceHost>;
  void add(ClientId client, Record record);
  // The process has ended; without a `stopped` record its log was cut.
  void gone(ClientId client);
  // Virtual clocks can be compared: no process of the machine is unmanaged.
  void comparable(bool yes) { comparable_ = yes; }

  // Works off all that was told. More may follow.
  void run();
  // Records that wait for a run. Above kMostWaiting the owner must call run(): what it finds then
  // may depend on who told first.
  std::size_t waiting() const { return waiting_; }
  static constexpr std::size_t kMostWaiting = 500'000;

  RaceBook& book() { return book_; }
  std::uint64_t accesses() const { return accesses_; }
  // False once a process was killed: edges may be missing, so that no race is told any more.
  bool whole() const { return whole_; }

 private:
  using Tick = RaceClock::Tick;
  struct Line {  // operations that follow each other
    std::size_t index = 0;
    Tick ticks = 0;
    RaceClock last;
  };
  struct Seen {  // what a host knew from `when` on
    Ns when = 0;
    RaceClock clock;
  };
  struct Process {
    // In order of time each; between them only what a record says orders: the host's clock runs
    // ahead of work that waits for a word.
    std::deque<RaceOp> ops;
    std::deque<RaceHost> hosts;
    std::uint64_t ops_taken = 0, hosts_taken = 0;
    std::map<std::uint64_t, std::size_t> seen_by_waiting;  // of `ops`: how often each `seen`
    bool stopped = false, gone = false;
    std::map<std::uint32_t, Line> lines;                  // by stream
    std::vector<Line> free_lines;                         // of streams that were destroyed
    std::unordered_map<std::uint64_t, RaceClock> clocks;  // of recent operations
    std::deque<std::uint64_t> recent;                     // in order
    std::uint64_t first_seen = 0;                         // number of host.front()
    std::deque<RaceClock> host{RaceClock()};              // after so many records of the host
    std::deque<Seen> sights;                              // of the host, by time
  };
  struct Letter {
    RaceClock clock;
    int count = 0;  // on their way: one stamp may serve several messages
  };
  struct WordEntry {
    Ns visible = 0;
    int rank = 0;
    RaceClock clock;
  };
  using Cell = std::pair<std::uint64_t, std::uint64_t>;  // space, offset

  Ns when(const Moment& moment) const { return comparable_ ? moment.at : moment.wall; }
  // What comes next of a process: of its operations or of its host's records.
  struct Head {
    Ns at = 0;
    int turn = 0;
    ClientId client = 0;
    std::uint64_t taken = 0;  // before it; older heads are void
    bool host = false;
    auto operator<=>(const Head&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  void push(std::vector<Head>& heads, ClientId client, const Process& process, bool host) const;
  void take_host(ClientId client, Process& process);
  void take(ClientId client, Process& process, const RaceOp& op);
  void take(ClientId client, Process& process, const RaceHost& host);
  RaceClock clock_of(ClientId client, Process& process, const RaceOp& op);
  // The clock of an operation that was told; where it has been forgotten, all of the process.
  const RaceClock& clock_at(Process& process, std::uint64_t id);
  RaceClock everything(const Process& process) const;
  RaceClock& host_clock(Process& process, std::uint64_t seen);
  Line& line_of(Process& process, const RaceOp& op, const RaceClock& host);
  void acquire(const RaceOp& wait, const RacePlace& word, RaceClock& clock);
  void log_word(ClientId client, const RaceOp& op, const RacePlace& place, const RaceClock& clock);
  void see(Process& process, Ns at, const RaceClock& clock);
  void report(const RaceActorPtr& first, bool first_writes, const RaceActorPtr& second,
              bool second_writes, const RacePlace& bytes);
  // Did any host see `first` done before something was submitted that is before `second`?
  bool told(const RaceActor& first, const RaceActor& second) const;
  std::size_t window() const;

  const Ns visible_ns_;
  bool comparable_ = true;
  bool whole_ = true;
  std::size_t waiting_ = 0;
  std::uint64_t accesses_ = 0;
  std::size_t lines_ = 0;
  std::map<ClientId, Process> processes_;
  std::map<std::pair<int, std::uint64_t>, Letter> letters_;  // by receiver and stamp
  std::map<Cell, std::deque<WordEntry>> words_;
  RaceShadow shadow_;
  RaceBook book_;
};

}  // namespace symmcts::platform

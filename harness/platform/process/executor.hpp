#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/model/timeline.hpp"
#include "harness/platform/model/units.hpp"
#include "harness/platform/process/race_trace.hpp"

namespace symmcts::platform {

// What an operation does when it is done, at its virtual end. Runs on the executor thread with no
// lock held, one at a time, in the order of the ends.
using Effect = std::function<void(const Op& op)>;

// The host clock of a process and the thread that runs its device work in virtual time.
//
// Managed machine: an event at T runs once nothing can still come before it: the host clock is past
// T, or the host waits for device work of its own; and no word wait that was reached at or before T
// is open, since its stream might go on before T. When the host is blocked and nothing is certain,
// the broker is told what the next event is, and grants it when every rank is in that state.
// What touches memory that other processes reach is never certain: it always takes a grant, so that
// such bytes move, and words are looked at, in virtual time's order on the whole machine.
// Otherwise everything that is enqueued runs at once, in order of time.
//
// At most one thread of the process blocks outside the driver (exchange) at a time. Everything is
// thread safe. Nothing may be called from an Effect but now().
class Executor {
 public:
  // `client` and `profile` must outlive it. Starts the thread.
  Executor(Client& client, const Profile& profile);
  // Ends the thread; work that has not run is dropped. In a forked child, where there is no such
  // thread, it only lets go.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The host clock.
  Ns now() const { return host_.load(std::memory_order_acquire); }
  void advance_to(Ns at);
  // Advances by `cost` and returns when the device work that is earlier has run.
  void spend(Ns cost);

  // Looks at, or adds to, the timeline under the lock. `use` must be short and must not block.
  template <typename Use>
  auto with(Use&& use) {
    std::lock_guard lock(mutex_);
    return use(timeline_);
  }
  // What the timeline need not know of an operation.
  struct Traits {
    RaceOp::Kind kind = RaceOp::Kind::plain;
    // It touches memory that other processes reach: among them bytes move in virtual time's order.
    bool shared = false;
  };
  // Adds an operation: `make` calls the timeline once, with the present host time.
  using Make = std::function<OpPtr(Timeline& timeline, Ns now)>;
  OpPtr add(const Make& make, Effect effect, Traits traits);
  OpPtr add(const Make& make) { return add(make, nullptr, {}); }
  // The same for a word wait; its id and ready time are filled in when it is reached.
  OpPtr add_wait(const Make& make, const WordWait& wait, bool shared);
  // What the operation in progress reads or writes; from its Effect.
  void touches(const std::vector<Place>& places, bool write) { trace_.touches(places, write); }
  void stream_ended(std::uint32_t stream);
  // The process ends in order. What was not sent to the machine yet goes there.
  void stopped();

  // Blocks until all of `ops` are done; the host clock joins their ends. `where` must be a literal.
  void wait_for(std::vector<OpPtr> ops, const char* where);
  // Advances the clock by a poll and says whether `op` is done by then. Blocks, in real time, until
  // that can be told; never in virtual time. Null counts as done.
  bool poll(const OpPtr& op, Ns cost, const char* where);

  // HostClock's bracket around broker calls.
  void enter_blocking(const char* where);
  void leave_blocking(Ns at);

  // The exchange, as streams.hpp has it.
  std::uint64_t message_out(int to);
  int wait_begin(Ns deadline);
  bool wait_end(const std::uint64_t* stamps, std::size_t count);

 private:
  struct Waiter {
    std::vector<OpPtr> ops;
    bool done = false;
  };

  void run();
  bool runnable() const;
  bool certain() const;
  bool next_is_shared() const;
  // It would run if it did not have to take its turn.
  bool waits_for_turn() const { return certain() && next_is_shared(); }
  bool blocked() const;
  bool settled(Ns until) const;
  void step(std::unique_lock<std::mutex>& lock);
  void reach(const Happening& wait);
  void satisfy_waiters();
  void report_stuck();
  void take(const Notice& notice);
  void pass_deadline(Ns at);
  void wake_exchange();
  void join_clock(Ns at);
  void host_moves();
  void settle(std::unique_lock<std::mutex>& lock);
  void poke();
  static bool op_done(const OpPtr& op) { return op->done; }
  bool on_executor() const { return std::this_thread::get_id() == thread_id_; }

  Client& client_;
  const pid_t pid_;
  std::atomic<Ns> host_{0};  // written under the lock

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Timeline timeline_;
  std::unordered_map<std::uint64_t, Effect> effects_;
  std::unordered_map<std::uint64_t, WordWait> waits_;
  std::unordered_map<std::uint64_t, OpPtr> reached_;  // waits that the broker knows
  std::unordered_set<std::uint64_t> shared_;          // operations that take turns
  RaceTrace trace_;

  // Where the host is; all zero or empty: it runs.
  std::list<Waiter*> waiters_;
  int calls_ = 0;
  int settling_ = 0;
  int polls_ = 0;
  Ns poll_until_ = 0;
  bool exchanging_ = false;
  Ns deadline_ = kNever;
  bool last_resort_ = false;  // what the deadline is
  bool deadline_passed_ = false;
  bool looking_ = false;  // the exchange has been asked to look at its connections again
  const char* where_ = "";

  std::optional<Ns> granted_;   // holds only as long as the host stays blocked
  bool reported_ = false;       // the broker counts us as stuck
  bool busy_ = false;           // an effect is running
  const Op* acting_ = nullptr;  // whose
  bool in_host_function_ = false;
  bool sleeping_ = false;
  bool quit_ = false;

  int event_fd_ = -1;
  std::unique_ptr<std::thread> thread_;
  std::thread::id thread_id_;
};

}  // namespace symmcts::platform

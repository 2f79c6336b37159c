// The host's half of the executor: the clock, and every way in which a host thread waits.
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "harness/platform/process/executor.hpp"

namespace symmcts::platform {

void Executor::poke() {
  if (sleeping_) client_.wake();
}

void Executor::join_clock(Ns at) {
  if (at > now()) host_.store(at, std::memory_order_release);
  timeline_.forget_before(now());
}

// The host is about to run again: what was granted to it while it could add nothing no longer
// holds.
void Executor::host_moves() {
  if (blocked()) return;
  granted_.reset();
  if (reported_) client_.report_running();
  reported_ = false;
}

void Executor::settle(std::unique_lock<std::mutex>& lock) {
  if (on_executor() || !client_.deterministic()) return;
  const auto quiet = [&] {
    return in_host_function_ || (!busy_ && !runnable() && !waits_for_turn());
  };
  if (quiet()) return;
  ++settling_;
  poke();
  changed_.wait(lock, quiet);
  --settling_;
  host_moves();
}

void Executor::advance_to(Ns at) {
  std::unique_lock lock(mutex_);
  join_clock(at);
  settle(lock);
}

void Executor::spend(Ns cost) {
  std::unique_lock lock(mutex_);
  join_clock(now() + cost);
  settle(lock);
}

OpPtr Executor::add(const Make& make, Effect effect, Traits traits) {
  std::lock_guard lock(mutex_);
  OpPtr op = make(timeline_, now());
  if (effect) effects_[op->id] = std::move(effect);
  if (traits.shared) shared_.insert(op->id);
  trace_.submitted(*op, traits.kind);
  if (runnable()) poke();
  return op;
}

OpPtr Executor::add_wait(const Make& make, const WordWait& wait, bool shared) {
  std::lock_guard lock(mutex_);
  OpPtr op = make(timeline_, now());
  waits_[op->id] = wait;
  if (shared) shared_.insert(op->id);
  trace_.submitted_wait(*op, wait);
  if (runnable()) poke();
  return op;
}

void Executor::wait_for(std::vector<OpPtr> ops, const char* where) {
  if (on_executor()) return;
  std::erase(ops, nullptr);
  std::unique_lock lock(mutex_);
  Waiter waiter{std::move(ops)};
  if (!busy_ && std::all_of(waiter.ops.begin(), waiter.ops.end(), op_done)) {
    for (const OpPtr& op : waiter.ops) join_clock(op->end);
    trace_.joined(waiter.ops, now());
    return;
  }
  waiters_.push_back(&waiter);
  where_ = where;
  poke();
  changed_.wait(lock, [&] { return waiter.done; });
}

bool Executor::settled(Ns until) const {
  // A host function may wait for the very thread that polls: its operation is not done, say so.
  if (in_host_function_) return true;
  if (busy_ || (granted_ && runnable())) return false;
  if (!client_.deterministic()) return timeline_.next() == kNever;
  if (timeline_.next() < until) return false;
  return timeline_.earliest_wait() >= until || (granted_ && *granted_ >= until);
}

bool Executor::poll(const OpPtr& op, Ns cost, const char* where) {
  std::unique_lock lock(mutex_);
  join_clock(now() + cost);
  if (op == nullptr) return true;
  const Ns until = now();
  if (!on_executor() && !settled(until)) {
    ++polls_;
    poll_until_ = until;
    where_ = where;
    poke();
    changed_.wait(lock, [&] { return settled(until); });
    --polls_;
    host_moves();
  }
  const bool done = op->done && op.get() != acting_ && op->end <= until;
  if (done) trace_.joined({op}, now());
  return done;
}

void Executor::stream_ended(std::uint32_t stream) {
  std::lock_guard lock(mutex_);
  trace_.stream_ended(stream, now());
}

void Executor::stopped() {
  std::lock_guard lock(mutex_);
  trace_.stopped(now());
}

void Executor::enter_blocking(const char* where) {
  std::lock_guard lock(mutex_);
  ++calls_;
  where_ = where;
  poke();
}

void Executor::leave_blocking(Ns at) {
  std::unique_lock lock(mutex_);
  --calls_;
  join_clock(at);
  host_moves();
  settle(lock);
}

std::uint64_t Executor::message_out(int to) {
  std::lock_guard lock(mutex_);
  client_.message_out(to);
  return trace_.sent(to, now());
}

int Executor::wait_begin(Ns deadline) {
  std::lock_guard lock(mutex_);
  eventfd_t drained = 0;
  [[maybe_unused]] const int none = ::eventfd_read(event_fd_, &drained);
  exchanging_ = true;
  deadline_passed_ = looking_ = false;
  deadline_ = deadline == 0 ? kNever : now() + deadline;
  last_resort_ = deadline >= kLastResort;
  where_ = "exchange";
  poke();
  return client_.deterministic() ? event_fd_ : -1;
}

bool Executor::wait_end(const std::uint64_t* stamps, std::size_t count) {
  std::unique_lock lock(mutex_);
  exchanging_ = looking_ = false;
  deadline_ = kNever;
  for (std::size_t i = 0; i < count; ++i) join_clock(clock_of_stamp(stamps[i]));
  trace_.heard(stamps, count, now());
  host_moves();
  if (count > 0) client_.message_in(count);
  const bool passed = deadline_passed_;
  deadline_passed_ = false;
  settle(lock);
  return passed;
}

}  // namespace symmcts::platform

#include "harness/platform/process/executor.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/support/printable.hpp"

namespace symmcts::platform {
namespace {

void say(const std::string& text) {
  const std::string line = "symm-cts platform: " + printable(text) + "\n";
  // Straight to the descriptor: one write, so that lines of several ranks do not mix.
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

// Seeds 0 and 1 are the schedule that was measured: nothing is held up.
std::uint64_t schedule_of(const MachineInfo& machine) {
  if (machine.seed < 2) return 0;
  return machine.seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(machine.rank) + 1;
}

}  // namespace

Executor::Executor(Client& client, const Profile& profile)
    : client_(client),
      pid_(::getpid()),
      timeline_(profile, schedule_of(client.machine())),
      trace_(client) {
  event_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::lock_guard lock(mutex_);
  thread_ = std::make_unique<std::thread>([this] { run(); });
  thread_id_ = thread_->get_id();
}

Executor::~Executor() {
  if (::getpid() != pid_) {
    [[maybe_unused]] std::thread* gone = thread_.release();
    return;
  }
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  client_.wake();
  thread_->join();
  if (event_fd_ >= 0) ::close(event_fd_);
}

void Executor::run() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    satisfy_waiters();
    if (runnable()) {
      if (reported_) {
        client_.report_running();
        reported_ = false;
      }
      step(lock);
      continue;
    }
    changed_.notify_all();
    if (blocked() && !reported_ && client_.deterministic()) report_stuck();
    sleeping_ = true;
    lock.unlock();
    const std::optional<Notice> notice = client_.next_notice();
    lock.lock();
    sleeping_ = false;
    if (notice) take(*notice);
  }
}

bool Executor::blocked() const {
  // A poll that can be answered and an exchange whose deadline has passed, or that looks again, are
  // about to go on.
  const bool exchange_waits = exchanging_ && !deadline_passed_ && !looking_;
  const bool turn_waits = settling_ > 0 && waits_for_turn();
  return !waiters_.empty() || calls_ > 0 || exchange_waits || turn_waits ||
         (polls_ > 0 && !settled(poll_until_));
}

bool Executor::runnable() const {
  const Ns next = timeline_.next();
  if (next == kNever) return false;
  if (!client_.deterministic()) return true;
  if (granted_ && next <= *granted_) return true;
  return certain() && !next_is_shared();
}

// Nothing of this process can come before the next event any more.
bool Executor::certain() const {
  const Ns next = timeline_.next();
  if (next == kNever || next >= timeline_.earliest_wait()) return false;
  // At the host's own time more can still be enqueued, so only what is before it is certain.
  return next < now() || !waiters_.empty();
}

bool Executor::next_is_shared() const {
  if (shared_.empty() || !client_.deterministic()) return false;
  const Op* op = timeline_.next_act();
  return op != nullptr && shared_.contains(op->id);
}

void Executor::step(std::unique_lock<std::mutex>& lock) {
  const auto happening = timeline_.step();
  if (!happening) return;
  trace_.begins();
  if (happening->kind == Happening::Kind::wait_ready) return reach(*happening);
  const OpPtr op = happening->op;
  shared_.erase(op->id);
  const auto found = effects_.find(op->id);
  if (found == effects_.end()) return trace_.completed(*op);
  const Effect effect = std::move(found->second);
  effects_.erase(found);
  busy_ = true;
  acting_ = op.get();
  in_host_function_ = op->kind == OpKind::host_function;
  if (in_host_function_) {
    changed_.notify_all();  // nobody may wait for its end but a synchronize
    // The host sees what came before it, and may tell anybody.
    trace_.completed(*op);
    trace_.joined({op}, op->start);
  }
  lock.unlock();
  effect(*op);
  lock.lock();
  trace_.completed(*op);
  busy_ = in_host_function_ = false;
  acting_ = nullptr;
}

void Executor::reach(const Happening& happening) {
  const auto found = waits_.find(happening.op->id);
  if (found == waits_.end()) return;
  WordWait wait = found->second;
  waits_.erase(found);
  wait.id = happening.op->id;
  wait.ready = happening.at;
  reached_[wait.id] = happening.op;
  shared_.erase(wait.id);
  client_.word_wait(wait);
}

void Executor::satisfy_waiters() {
  bool any = false;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    Waiter& waiter = **it;
    if (!std::all_of(waiter.ops.begin(), waiter.ops.end(), op_done)) {
      ++it;
      continue;
    }
    for (const OpPtr& op : waiter.ops) join_clock(op->end);
    trace_.joined(waiter.ops, now());
    waiter.done = any = true;
    it = waiters_.erase(it);
  }
  if (!any) return;
  host_moves();
  changed_.notify_all();
}

void Executor::report_stuck() {
  trace_.flush();  // nobody asks when the machine stands still for good
  Stuck stuck;
  stuck.next_event = timeline_.next();
  if (polls_ > 0) stuck.next_event = std::min(stuck.next_event, poll_until_);
  stuck.deadline = exchanging_ ? deadline_ : kNever;
  stuck.last_resort = exchanging_ && last_resort_;
  stuck.where = where_;
  stuck.in_call = calls_ > 0;
  stuck.in_exchange = exchanging_;
  client_.report_stuck(stuck);
  reported_ = true;
}

void Executor::pass_deadline(Ns at) {
  join_clock(at);
  deadline_passed_ = true;
  deadline_ = kNever;
  host_moves();
  wake_exchange();
}

void Executor::wake_exchange() {
  [[maybe_unused]] const int written = ::eventfd_write(event_fd_, 1);
}

void Executor::take(const Notice& notice) {
  switch (notice.kind) {
    case Notice::Kind::word_done: {
      reported_ = false;
      const auto found = reached_.find(notice.id);
      if (found == reached_.end()) return;
      timeline_.resolve(found->second, notice.at);
      reached_.erase(found);
      return;
    }
    case Notice::Kind::granted:
      reported_ = false;
      if (blocked()) granted_ = std::max(granted_.value_or(0), notice.at);
      return;
    case Notice::Kind::deadline:
      reported_ = false;
      if (exchanging_) pass_deadline(notice.at);
      return;
    case Notice::Kind::look_again:
      reported_ = false;
      if (!exchanging_) return;
      looking_ = true;  // it counts as running until it waits again
      host_moves();
      wake_exchange();
      return;
    case Notice::Kind::deadlock:
      say(notice.text);
      return;
    case Notice::Kind::broker_gone:
      say("the machine's broker is gone; this rank ends");
      std::_Exit(3);
  }
}

}  // namespace symmcts::platform

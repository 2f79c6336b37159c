#include "harness/platform/model/engine.hpp"

#include <algorithm>

namespace symmcts::platform {

void Engine::enqueue(const OpPtr& op) {
  const auto later = [](const OpPtr& a, const OpPtr& b) {
    return a->ready != b->ready ? a->ready < b->ready : a->id < b->id;
  };
  queue_.insert(std::upper_bound(queue_.begin(), queue_.end(), op, later), op);
}

OpPtr Engine::take() {
  OpPtr op = queue_.front();
  queue_.erase(queue_.begin());
  return op;
}

Ns Engine::gap(const Op& op, std::uint32_t other_stream) const {
  const CopyRule& rule = profile_.rule(op.copy_class);
  const int ns = other_stream == op.stream ? rule.gap_ns.value : rule.switch_gap_ns.value;
  return static_cast<Ns>(ns);
}

Ns Engine::earliest_start() const {
  const Op& op = *queue_.front();
  const Ns length = profile_.duration(op.copy_class, op.bytes);
  Ns at = op.ready;
  for (const Busy& busy : busy_) {
    // Only a copy that was added late finds work that starts after it.
    if (at + length + gap(op, busy.stream) <= busy.start) break;
    at = std::max(at, busy.end + gap(op, busy.stream));
  }
  return at;
}

void Engine::served(const Op& op) {
  const Busy busy{op.start, op.end, op.stream};
  const auto later = [](const Busy& a, const Busy& b) { return a.start < b.start; };
  busy_.insert(std::upper_bound(busy_.begin(), busy_.end(), busy, later), busy);
}

Ns Engine::free_at(Ns now) const {
  Ns at = busy_.empty() ? 0 : busy_.back().end;
  if (running != nullptr) at = std::max(at, running->planned_end);
  at = std::max(at, now);
  for (const OpPtr& op : queue_) at += profile_.duration(op->copy_class, op->bytes);
  return at;
}

void Engine::forget_before(Ns now) {
  // The last one stays: the gap after it may reach beyond `now`.
  while (busy_.size() > 1 && busy_.front().end < now && busy_[1].end < now) {
    busy_.erase(busy_.begin());
  }
}

}  // namespace symmcts::platform

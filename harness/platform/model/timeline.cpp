#include "harness/platform/model/timeline.hpp"

#include <algorithm>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;

// a * b / c, rounded down or up, without overflow.
std::uint64_t scale_down(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{a} * b / c);
}
std::uint64_t scale_up(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{a} * b + c - 1) / c);
}

// What a seed may hold up work by. Several such delays add up on the way to a copy (its barrier's
// writes, the copy before it), and their sum must stay well below the 10 us from which the judge
// takes a copy to have been kept waiting by another.
constexpr Ns kMostDelay = 2'000;

// splitmix64
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

constexpr std::size_t kMostGone = 4096;

// Half of all work begins at once. Edges and waits take no time of their own.
Ns delay_of(const Op& op, std::uint64_t seed) {
  if (seed == 0 || op.kind == OpKind::marker || op.kind == OpKind::wait_word) return 0;
  const std::uint64_t drawn = mixed(seed ^ mixed(op.id));
  return (drawn & 1) == 0 ? 0 : (drawn >> 1) % (kMostDelay + 1);
}

}  // namespace

Timeline::Timeline(const Profile& profile, std::uint64_t seed) : profile_(profile), seed_(seed) {}

Timeline::~Timeline() {
  // Each operation owns the next: a long queue must not be destroyed by recursion.
  for (const auto& [id, op] : open_) op->dependents.clear();
}

void Timeline::add_stream(std::uint32_t stream, int device, bool legacy, bool non_blocking) {
  streams_[stream] = Stream{device, legacy, non_blocking, false, nullptr};
}

void Timeline::remove_stream(std::uint32_t stream, Ns now) {
  // Work that is still enqueued runs, and whoever waits for the device waits for it too
  // (cuda.h:cuStreamDestroy): the stream goes when its last operation is done. By the host's time:
  // how far the device has come by the wall clock is the load's doing.
  streams_.at(stream).removed = true;
  std::erase_if(streams_, [&](const auto& entry) {
    const Stream& each = entry.second;
    if (!each.removed) return false;
    if (each.last == nullptr) return true;
    if (!each.last->done || each.last->end >= now) return false;
    gone_.push_back(each);
    return true;
  });
  while (gone_.size() > kMostGone) gone_.pop_front();
}

void Timeline::depend(const OpPtr& op, const OpPtr& on) {
  if (on == nullptr || on == op) return;
  op->after.push_back(on->id);
  if (on->done) {
    op->ready = std::max(op->ready, on->end);
  } else {
    ++op->pending;
    on->dependents.push_back(op);
  }
}

OpPtr Timeline::add(std::uint32_t stream, Ns submitted, OpKind kind) {
  Stream& own = streams_.at(stream);
  auto op = std::make_shared<Op>();
  op->id = next_id_++;
  op->stream = stream;
  op->device = own.device;
  op->kind = kind;
  op->submitted = submitted;
  op->ready = submitted;
  depend(op, own.last);
  if (!own.non_blocking) {
    for (const auto& [id, other] : streams_) {
      if (id == stream || other.device != own.device || other.non_blocking) continue;
      if (own.legacy || other.legacy) depend(op, other.last);
    }
    for (const Stream& other : gone_) {
      if (own.legacy && other.device == own.device && !other.non_blocking) depend(op, other.last);
    }
  }
  own.last = op;
  return op;
}

void Timeline::seal(const OpPtr& op) {
  open_[op->id] = op;
  if (op->pending == 0) becomes_ready(op);
}

void Timeline::becomes_ready(const OpPtr& op) {
  op->ready += delay_of(*op, seed_);
  queue_.emplace(op->ready, kReady, op->id);
}

OpPtr Timeline::copy(std::uint32_t stream, Ns submitted, CopyClass copy_class,
                     std::uint64_t bytes) {
  OpPtr op = add(stream, submitted, OpKind::copy);
  op->copy_class = copy_class;
  op->bytes = bytes;
  seal(op);
  return op;
}

OpPtr Timeline::write_word(std::uint32_t stream, Ns submitted) {
  OpPtr op = add(stream, submitted, OpKind::write_word);
  seal(op);
  return op;
}

OpPtr Timeline::wait_word(std::uint32_t stream, Ns submitted) {
  OpPtr op = add(stream, submitted, OpKind::wait_word);
  seal(op);
  return op;
}

OpPtr Timeline::host_function(std::uint32_t stream, Ns submitted) {
  OpPtr op = add(stream, submitted, OpKind::host_function);
  seal(op);
  return op;
}

OpPtr Timeline::marker(std::uint32_t stream, Ns submitted, OpPtr after) {
  OpPtr op = add(stream, submitted, OpKind::marker);
  depend(op, after);
  seal(op);
  return op;
}

OpPtr Timeline::last(std::uint32_t stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second.last;
}

std::vector<OpPtr> Timeline::last_of_device(int device) {
  std::vector<OpPtr> ops;
  std::erase_if(gone_, [&](const Stream& stream) {
    if (stream.device != device) return false;
    ops.push_back(stream.last);
    return true;
  });
  for (const auto& [id, stream] : streams_) {
    if (stream.device == device && stream.last != nullptr) ops.push_back(stream.last);
  }
  return ops;
}

const Op* Timeline::next_act() const {
  if (queue_.empty()) return nullptr;
  const auto [at, phase, id] = *queue_.begin();
  if (phase == kStart) return nullptr;
  const Op* op = open_.at(id).get();
  return phase == kComplete || op->kind == OpKind::wait_word ? op : nullptr;
}

std::optional<Happening> Timeline::step() {
  const auto [at, phase, id] = *queue_.begin();
  queue_.erase(queue_.begin());
  if (phase == kStart) {
    on_start(*engines_[id], at);
    return std::nullopt;
  }
  const OpPtr op = open_.at(id);
  return phase == kReady ? on_ready(op, at) : complete(op, at);
}

std::optional<Happening> Timeline::on_ready(const OpPtr& op, Ns at) {
  op->start = at;
  switch (op->kind) {
    case OpKind::marker:
      return complete(op, at);
    case OpKind::write_word:
      schedule_end(op, at + profile_.word_write_ns.value);
      return std::nullopt;
    case OpKind::host_function:
      schedule_end(op, at + profile_.call_cost("default"));
      return std::nullopt;
    case OpKind::wait_word:
      waits_.emplace(at, op->id);
      return Happening{Happening::Kind::wait_ready, op, at};
    case OpKind::copy: {
      Engine& engine = choose_engine(*op, at);
      engine.enqueue(op);
      schedule_start(engine);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void Timeline::schedule_end(const OpPtr& op, Ns end) {
  op->planned_end = end;
  queue_.emplace(end, kComplete, op->id);
}

void Timeline::schedule_start(Engine& engine) {
  if (engine.planned_start != kNever) {
    queue_.erase({engine.planned_start, kStart, engine.index});
    engine.planned_start = kNever;
  }
  if (engine.running != nullptr || engine.head() == nullptr) return;
  engine.planned_start = engine.earliest_start();
  queue_.emplace(engine.planned_start, kStart, engine.index);
}

void Timeline::on_start(Engine& engine, Ns at) {
  engine.planned_start = kNever;
  const OpPtr op = engine.take();
  op->start = at;
  op->remaining = profile_.duration(op->copy_class, op->bytes);
  op->rate = kMillion;
  op->progressed = at;
  engine.running = op;
  schedule_end(op, at + op->remaining);
  reprice(engine.device, at);
}

std::optional<Happening> Timeline::complete(const OpPtr& op, Ns at) {
  op->end = at;
  op->done = true;
  open_.erase(op->id);
  for (const auto& owned : engines_) {
    Engine& engine = *owned;
    if (engine.running != op) continue;
    engine.running = nullptr;
    engine.served(*op);
    reprice(engine.device, at);
    schedule_start(engine);
  }
  for (const OpPtr& next : op->dependents) {
    next->ready = std::max(next->ready, at);
    if (--next->pending == 0) becomes_ready(next);
  }
  op->dependents.clear();
  return Happening{Happening::Kind::completed, op, at};
}

void Timeline::resolve(const OpPtr& wait, Ns at) {
  if (waits_.erase({wait->start, wait->id}) == 0) return;
  schedule_end(wait, std::max(wait->start, at));
}

Ns Timeline::earliest_wait() const { return waits_.empty() ? kNever : waits_.begin()->first; }

void Timeline::forget_before(Ns now) {
  for (const auto& engine : engines_) engine->forget_before(now);
}

Engine& Timeline::engine(int device, const std::string& name) {
  const auto [found, added] = engine_index_.try_emplace({device, name}, engines_.size());
  if (added) {
    engines_.push_back(std::make_unique<Engine>(profile_, engines_.size(), device, name));
  }
  return *engines_[found->second];
}

Engine& Timeline::choose_engine(const Op& op, Ns at) {
  const std::string& name = profile_.rule(op.copy_class).engine.value;
  if (name != "either") return engine(op.device, name);
  Engine& up = engine(op.device, profile_.rule(CopyClass::htod).engine.value);
  Engine& down = engine(op.device, profile_.rule(CopyClass::dtoh).engine.value);
  return down.free_at(at) < up.free_at(at) ? down : up;
}

void Timeline::reprice(int device, Ns at) {
  for (const auto& owned : engines_) {
    if (owned->device != device || owned->running == nullptr) continue;
    Op& op = *owned->running;
    const CopyRule& rule = profile_.rule(op.copy_class);
    bool contended = false;
    for (const auto& other : engines_) {
      contended =
          contended || (other->device == device && other != owned &&
                        other->name == rule.contends_with.value && other->running != nullptr);
    }
    const auto factor = static_cast<std::uint64_t>(rule.contended_factor.value * kMillion);
    const std::uint64_t rate = contended ? factor : kMillion;
    if (rate == op.rate) continue;
    // A step back in time (something was added late) takes no progress away.
    const Ns elapsed = at > op.progressed ? at - op.progressed : 0;
    op.remaining -= std::min(op.remaining, scale_down(elapsed, kMillion, op.rate));
    op.progressed += elapsed;
    op.rate = rate;
    queue_.erase({op.planned_end, kComplete, op.id});
    schedule_end(owned->running, op.progressed + scale_up(op.remaining, rate, kMillion));
  }
}

}  // namespace symmcts::platform

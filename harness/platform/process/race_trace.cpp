#include "harness/platform/process/race_trace.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "harness/platform/broker/race_wire.hpp"

namespace symmcts::platform {
namespace {

constexpr std::size_t kFull = 32 * 1024;  // bytes of a message, which fits into one packet

struct InCall {
  const char* function = "";
  std::uint32_t correlation = 0;
};
thread_local InCall in_progress;

Ns wall_clock() {
  return static_cast<Ns>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

void RaceTrace::in_call(const char* function, std::uint32_t correlation) {
  in_progress = {function, correlation};
}

RaceTrace::RaceTrace(Client& client) : client_(client), on_(client.machine().race_check) {}

void RaceTrace::submitted(const Op& op, RaceOp::Kind kind) {
  if (!on_) return;
  Pending& pending = pending_[op.id];
  pending.kind = kind;
  pending.seen = host_records_;
  pending.wall = wall_clock();
  pending.correlation = in_progress.correlation;
  pending.call = in_progress.function;
  if (in_flight_.empty()) first_in_flight_ = host_records_;
  while (first_in_flight_ + in_flight_.size() <= host_records_) in_flight_.push_back(0);
  ++in_flight_[host_records_ - first_in_flight_];
}

void RaceTrace::submitted_wait(const Op& op, const WordWait& wait) {
  if (!on_) return;
  submitted(op, RaceOp::Kind::word_wait);
  pending_[op.id].word = {wait.allocation, wait.offset, wait.width, 0};
}

void RaceTrace::begins() {
  if (on_) begun_ = wall_clock();
}

void RaceTrace::touches(const std::vector<Place>& places, bool write) {
  if (!on_) return;
  for (const Place& place : places) {
    accesses_.push_back({place.allocation, place.offset, place.size, std::uint8_t{write}});
  }
}

void RaceTrace::completed(const Op& op) {
  if (!on_) return;
  const auto found = pending_.find(op.id);
  if (found == pending_.end()) return;  // a host function that has begun, and now ends
  const Pending& pending = found->second;
  RaceOp record;
  record.id = op.id;
  record.stream = op.stream;
  record.kind = pending.kind;
  record.seen = pending.seen;
  record.submitted = {op.submitted, pending.wall};
  record.ended = {op.kind == OpKind::host_function ? op.start : op.end, begun_};
  record.correlation = pending.correlation;
  record.call = pending.call;
  record.after = op.after;
  record.accesses = std::exchange(accesses_, {});
  if (pending.kind == RaceOp::Kind::word_wait) record.accesses.push_back(pending.word);
  if (--in_flight_[pending.seen - first_in_flight_] == 0) {
    while (!in_flight_.empty() && in_flight_.front() == 0) {
      in_flight_.pop_front();
      ++first_in_flight_;
    }
  }
  pending_.erase(found);
  WireWriter out;
  put_race_record(out, record);
  put(out.bytes());
}

void RaceTrace::host(RaceHost::Kind kind, std::vector<std::uint64_t> ids, int to, Ns now) {
  RaceHost record;
  record.kind = kind;
  record.at = {now, wall_clock()};
  record.to = to;
  if (kind != RaceHost::Kind::stopped) ++host_records_;
  record.oldest = in_flight_.empty() ? host_records_ : first_in_flight_;
  record.ids = std::move(ids);
  WireWriter out;
  put_race_record(out, record);
  put(out.bytes());
}

void RaceTrace::joined(const std::vector<OpPtr>& ops, Ns now) {
  if (!on_) return;
  std::vector<std::uint64_t> ids;
  for (const OpPtr& op : ops) {
    if (op == nullptr) continue;
    std::uint64_t& last = joined_[op->stream];
    if (op->id <= last) continue;
    last = op->id;
    ids.push_back(op->id);
  }
  if (ids.empty()) return;
  host(RaceHost::Kind::joined, std::move(ids), -1, now);
  if (!client_.deterministic()) flush();  // nobody asks a process that is killed
}

std::uint64_t RaceTrace::sent(int to, Ns now) {
  const std::uint64_t stamp = message_stamp(client_.machine().rank, now);
  // One to oneself is how an exchange takes a message from its own shelf: it tells nobody anything.
  if (on_ && to != client_.machine().rank) host(RaceHost::Kind::sent, {stamp}, to, now);
  return stamp;
}

void RaceTrace::heard(const std::uint64_t* stamps, std::size_t count, Ns now) {
  if (!on_) return;
  std::vector<std::uint64_t> known;
  std::copy_if(stamps, stamps + count, std::back_inserter(known),
               [](std::uint64_t stamp) { return stamp != 0; });
  if (!known.empty()) host(RaceHost::Kind::heard, std::move(known), -1, now);
}

void RaceTrace::stream_ended(std::uint32_t stream, Ns now) {
  if (on_) host(RaceHost::Kind::ended, {stream}, -1, now);
}

void RaceTrace::stopped(Ns now) {
  if (!on_) return;
  host(RaceHost::Kind::stopped, {}, -1, now);
  client_.races(std::exchange(unsent_, {}), true);
}

void RaceTrace::put(const Bytes& record) {
  if (unsent_.size() + record.size() > kFull) flush();
  unsent_.insert(unsent_.end(), record.begin(), record.end());
}

void RaceTrace::flush() {
  if (!unsent_.empty()) client_.races(std::exchange(unsent_, {}), false);
}

}  // namespace symmcts::platform

#include "harness/platform/model/quiescence.hpp"

#include <algorithm>
#include <utility>

namespace symmcts::platform {

void Quiescence::attach(ClientId client) {
  clients_[client];
  ++attached_;
}

void Quiescence::declare_managed(ClientId client) {
  Client& entry = clients_[client];
  if (!entry.unmanaged) entry.managed = true;
}

bool Quiescence::acts(ClientId client) {
  Client& entry = clients_[client];
  if (entry.managed || entry.unmanaged) return false;
  entry.unmanaged = true;
  return ++unmanaged_ == 1;
}

void Quiescence::detach(ClientId client) {
  clients_.erase(client);
  somebody_left_ = true;
  // One that is on its way into the exchange may find the closed connection there by itself, but
  // the machine hears of that too late to keep the deadline from passing meanwhile.
  for (auto& [id, other] : clients_) other.must_look = true;
}

void Quiescence::stopped(ClientId client) {
  Client& entry = clients_[client];
  entry.stopped = somebody_stopped_ = true;
  entry.stuck = {};
  entry.stuck.where = "stopped by the scenario";
  deadlocked_ = false;
}

void Quiescence::message_out(ClientId client, int to) {
  runs(clients_[client]);
  ++in_flight_[to];
  looked_ = false;
}

void Quiescence::message_in(ClientId client, std::uint64_t count) {
  runs(clients_[client]);
  in_flight_[rank_of(client)] -= static_cast<std::int64_t>(count);
  looked_ = false;
}

void Quiescence::report_stuck(ClientId client, const Stuck& stuck, std::uint64_t seen) {
  Client& entry = clients_[client];
  if (entry.stopped || seen != entry.notices) return;
  entry.is_stuck = true;
  entry.stuck = stuck;
}

void Quiescence::report_running(ClientId client) { runs(clients_[client]); }

void Quiescence::noticed(ClientId client) {
  Client& entry = clients_[client];
  ++entry.notices;
  runs(entry);
}

void Quiescence::parked(ClientId client) { ++clients_[client].parked; }

void Quiescence::unparked(ClientId client) {
  --clients_[client].parked;
  answered(client);
}

void Quiescence::answered(ClientId client) {
  Client& entry = clients_[client];
  // Inside one driver call a client may ask again: its report holds until it leaves the call.
  if (!entry.stuck.in_call) entry.is_stuck = false;
  deadlocked_ = false;
}

bool Quiescence::takes_turns(ClientId client) const {
  const auto it = clients_.find(client);
  if (it == clients_.end() || !it->second.managed || !deterministic()) return false;
  return clients_.size() > 1 || attached_ < expected_;
}

std::optional<Quiescence::Earliest> Quiescence::earliest_event() const {
  std::optional<Earliest> best;
  const auto consider = [&](const Earliest& one) {
    if (!best || one < *best) best = one;
  };
  for (const auto& [id, client] : clients_) {
    const Ns event = client.stuck.next_event;
    if (event != kNever) consider({event, rank_of(id), Move::Kind::grant, id});
    if (!client.calls.empty()) {
      consider({*client.calls.begin(), rank_of(id), Move::Kind::serve, id});
    }
  }
  return best;
}

std::optional<Quiescence::Earliest> Quiescence::earliest_deadline() const {
  std::optional<Earliest> best;
  for (const auto& [id, client] : clients_) {
    if (client.stuck.last_resort && !somebody_stopped_) continue;
    const Earliest one{client.stuck.deadline, rank_of(id), Move::Kind::deadline, id};
    if (one.at != kNever && (!best || one < *best)) best = one;
  }
  return best;
}

std::optional<Move> Quiescence::next(bool hold_waits) {
  if (!all_wait() || message_under_way()) return std::nullopt;
  if (const auto event = earliest_event()) {
    if (event->kind == Move::Kind::grant) {
      noticed(event->client);
    } else {
      auto& calls = clients_[event->client].calls;
      calls.erase(calls.begin());
      deadlocked_ = false;
    }
    return Move{event->kind, event->client, event->at};
  }
  if (hold_waits) return Move{Move::Kind::open_hold, 0, 0};
  if (const auto deadline = earliest_deadline()) {
    noticed(deadline->client);
    if (std::exchange(clients_[deadline->client].must_look, false)) {
      return Move{Move::Kind::look, deadline->client, deadline->at};
    }
    return Move{Move::Kind::deadline, deadline->client, deadline->at};
  }
  // Where only those are left that the scenario has stopped, nobody waits for anything.
  const bool nobody_waits = std::all_of(clients_.begin(), clients_.end(),
                                        [](const auto& entry) { return entry.second.stopped; });
  if (deadlocked_ || nobody_waits) return std::nullopt;
  deadlocked_ = true;
  return Move{Move::Kind::deadlock, 0, 0};
}

std::vector<ClientId> Quiescence::look_again() {
  std::vector<ClientId> out;
  for (const auto& [id, client] : clients_) {
    if (!client.stopped && client.managed && client.is_stuck && client.stuck.in_exchange)
      out.push_back(id);
  }
  for (const ClientId client : out) {
    noticed(client);
    clients_[client].must_look = false;
  }
  looked_ = true;
  return out;
}

bool Quiescence::only_lost_messages() const {
  return somebody_left_ && all_wait() && message_under_way();
}

const Stuck* Quiescence::stuck(ClientId client) const {
  const auto it = clients_.find(client);
  return it == clients_.end() || !waits(it->second) ? nullptr : &it->second.stuck;
}

bool Quiescence::waits(const Client& client) const {
  const bool in_broker = client.parked > 0 || !client.calls.empty();
  if (client.stopped) return true;
  return client.managed && client.is_stuck && (!client.stuck.in_call || in_broker);
}

bool Quiescence::message_under_way() const {
  const auto heard_early = [](const auto& entry) { return entry.second < 0; };
  if (std::any_of(in_flight_.begin(), in_flight_.end(), heard_early)) return true;
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& entry) {
    if (!entry.second.stuck.in_exchange) return false;
    const auto messages = in_flight_.find(rank_of(entry.first));
    return messages != in_flight_.end() && messages->second != 0;
  });
}

bool Quiescence::all_wait() const {
  if (clients_.empty() || attached_ < expected_ || !deterministic()) return false;
  return std::all_of(clients_.begin(), clients_.end(),
                     [&](const auto& entry) { return waits(entry.second); });
}

void Quiescence::runs(Client& client) {
  client.is_stuck = false;
  deadlocked_ = false;
}

}  // namespace symmcts::platform

#include "harness/platform/model/quiescence.hpp"

#include <algorithm>
#include <tuple>

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
}

void Quiescence::message_out(ClientId client) {
  runs(clients_[client]);
  ++in_flight_;
}

void Quiescence::message_in(ClientId client, std::uint64_t count) {
  runs(clients_[client]);
  in_flight_ -= static_cast<std::int64_t>(count);
}

void Quiescence::report_stuck(ClientId client, const Stuck& stuck, std::uint64_t seen) {
  Client& entry = clients_[client];
  if (seen != entry.notices) return;
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
  Client& entry = clients_[client];
  --entry.parked;
  runs(entry);
}

std::optional<Move> Quiescence::next(bool hold_waits) {
  if (!all_wait() || in_flight_ != 0) return std::nullopt;
  // The least of (time, rank) over one of the two times of a report.
  const auto least = [&](Ns Stuck::*time) {
    std::optional<std::tuple<Ns, int, ClientId>> best;
    for (const auto& [id, client] : clients_) {
      const std::tuple<Ns, int, ClientId> candidate{client.stuck.*time, rank_of(id), id};
      if (client.stuck.*time != kNever && (!best || candidate < *best)) best = candidate;
    }
    return best;
  };
  if (const auto event = least(&Stuck::next_event)) {
    noticed(std::get<2>(*event));
    return Move{Move::Kind::grant, std::get<2>(*event), std::get<0>(*event)};
  }
  if (hold_waits) return Move{Move::Kind::open_hold, 0, 0};
  if (const auto deadline = least(&Stuck::deadline)) {
    noticed(std::get<2>(*deadline));
    return Move{Move::Kind::deadline, std::get<2>(*deadline), std::get<0>(*deadline)};
  }
  if (deadlocked_) return std::nullopt;
  deadlocked_ = true;
  return Move{Move::Kind::deadlock, 0, 0};
}

bool Quiescence::only_lost_messages() const {
  return in_flight_ != 0 && somebody_left_ && all_wait();
}

const Stuck* Quiescence::stuck(ClientId client) const {
  const auto it = clients_.find(client);
  return it == clients_.end() || !waits(it->second) ? nullptr : &it->second.stuck;
}

bool Quiescence::waits(const Client& client) const {
  return client.managed && client.is_stuck && (!client.stuck.in_call || client.parked > 0);
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

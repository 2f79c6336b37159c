#include "harness/platform/broker/broker_state.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace symmcts::platform {
namespace {

// Calls whose order with the calls of other ranks can show: an object lives until the last of its
// references is gone, teams fill up, slots and memory run out.
bool takes_turns(Op op) {
  switch (op) {
    case Op::create_memory:
    case Op::release:
    case Op::import_fabric:
    case Op::unmap:
    case Op::multicast_create:
    case Op::multicast_add_device:
    case Op::multicast_bind:
    case Op::multicast_unbind:
      return true;
    default:
      return false;
  }
}

}  // namespace

BrokerState::BrokerState(Setup setup, PublishedPage page, Outlet& outlet)
    : setup_(std::move(setup)),
      page_(std::move(page)),
      outlet_(outlet),
      machine_(setup_.profile, setup_.seed, setup_.scenario.faults),
      words_(setup_.profile.word_visible_ns.value,
             [this](std::uint64_t allocation, std::uint64_t offset) {
               std::uint64_t size = 0;
               const MachineMemory* memory = machine_.memory(allocation, size);
               return memory == nullptr ? 0 : memory->word(offset);
             }),
      gates_(setup_.scenario.holds),
      races_(setup_.profile.word_visible_ns.value) {
  quiescence_.expect(setup_.expected_clients);
  page_.set_generation(machine_.binding_generation());
}

std::optional<ClientId> BrokerState::attach(const Packet& hello, Bytes& reply, std::string& error) {
  WireReader fields(hello.bytes);
  const PacketHead head = take_head(fields);
  const auto version = fields.take<std::uint32_t>();
  const auto rank = fields.take<std::int32_t>();
  const auto host = fields.take<std::int32_t>();
  const auto managed = fields.take<std::uint8_t>();
  std::optional<ClientId> client;
  if (head.op != Op::hello || !fields.ok()) {
    error = "did not begin with a hello";
  } else if (version != kProtocolVersion) {
    error = "protocol version " + std::to_string(version) + " instead of " +
            std::to_string(kProtocolVersion);
  } else if (!(client = machine_.attach(rank, host))) {
    error = "wants to be rank " + std::to_string(rank) + " on host " + std::to_string(host) +
            ", which does not fit on a machine of " + std::to_string(setup_.profile.hosts.value) +
            " hosts, or has joined too often";
  }
  WireWriter packet;
  packet.put(ToClient::reply).put(head.request);
  if (!client) {
    reply = packet.put(Code::invalid_value).put(Ns{0}).put_text(error).bytes();
    return std::nullopt;
  }
  clients_.push_back(*client);
  ++attached_;
  quiescence_.attach(*client);
  if (managed != 0) quiescence_.declare_managed(*client);
  Welcome welcome;
  welcome.seed = setup_.seed;
  welcome.rank = rank_of(*client);
  welcome.host = host;
  welcome.gpu_count = setup_.profile.gpus_per_host.value;
  welcome.first_gpu = host * welcome.gpu_count;
  welcome.has_holds = gates_.any();
  welcome.race_check = setup_.race_check;
  welcome.confidential_computing = setup_.scenario.faults.confidential_computing;
  packet.put(Code::success).put(Ns{0}).put(welcome);
  packet.put_text(setup_.profile_text).put_text(setup_.profile.name);
  reply = packet.put_text(setup_.scenario_text).bytes();
  return client;
}

bool BrokerState::handle(ClientId client, Packet packet) {
  WireReader fields(packet.bytes);
  const PacketHead head = take_head(fields);
  const bool acts =
      head.op != Op::declare_managed && head.op != Op::running && head.op != Op::races;
  if (acts && quiescence_.acts(client)) becomes_unmanaged();
  if (!takes_turns(head.op) || !quiescence_.takes_turns(client)) {
    return dispatch(client, std::move(packet));
  }
  quiescence_.queued(client, head.now);
  queued_.push_back({client, head.now, std::move(packet)});
  return true;
}

bool BrokerState::dispatch(ClientId client, Packet packet) {
  WireReader fields(packet.bytes);
  const auto [op, id, now] = take_head(fields);
  Request request{client, id, now, fields, packet.fd};
  const bool known = handle_memory(op, request) || handle_multicast(op, request) ||
                     handle_order(op, request) || handle_words(op, request) ||
                     handle_holds(op, request) || handle_misuse(op, request) ||
                     handle_faults(op, request) || handle_races(op, request);
  return known && fields.done();
}

void BrokerState::serve(ClientId client, Ns at) {
  const auto call = std::find_if(queued_.begin(), queued_.end(), [&](const Queued& queued) {
    return queued.client == client && queued.at == at;
  });
  if (call == queued_.end()) return;
  Packet packet = std::move(call->packet);
  queued_.erase(call);
  const std::size_t parked_before = parked_.size();
  if (!dispatch(client, std::move(packet))) return outlet_.refuse(client);
  if (parked_.size() == parked_before) quiescence_.answered(client);
}

void BrokerState::serve_all() {
  std::stable_sort(queued_.begin(), queued_.end(), [](const Queued& a, const Queued& b) {
    return std::tuple(a.at, rank_of(a.client)) < std::tuple(b.at, rank_of(b.client));
  });
  while (!queued_.empty()) serve(queued_.front().client, queued_.front().at);
}

void BrokerState::detach(ClientId client) {
  std::erase_if(queued_, [&](const Queued& call) { return call.client == client; });
  std::erase_if(parked_, [&](const Parked& call) { return call.client == client; });
  std::erase(clients_, client);
  machine_.detach(client);
  races_.gone(client);
  words_.forget_client(client);
  quiescence_.detach(client);
  const auto same_rank = [&](ClientId other) { return rank_of(other) == rank_of(client); };
  if (std::none_of(clients_.begin(), clients_.end(), same_rank)) {
    gates_.rank_gone(rank_of(client));
  }
  forget_freed();
  look_again();
}

void BrokerState::look_again() {
  if (!quiescence_.deterministic()) return;
  for (const ClientId client : quiescence_.look_again()) {
    notice(client, Notice::Kind::look_again, 0, 0);
  }
}

void BrokerState::miss_messages() {
  if (quiescence_.all_have_looked()) return quiescence_.write_off();
  look_again();
}

void BrokerState::descriptor_closed(std::uint64_t id) {
  machine_.close_descriptor(id);
  forget_freed();
}

void BrokerState::advance() {
  retry_parked();
  while (const auto move = quiescence_.next(gates_.keeps_somebody())) {
    switch (move->kind) {
      case Move::Kind::grant:
        notice(move->client, Notice::Kind::granted, 0, move->at);
        break;
      case Move::Kind::serve:
        serve(move->client, move->at);
        retry_parked();
        break;
      case Move::Kind::deadline:
        notice(move->client, Notice::Kind::deadline, 0, move->at);
        break;
      case Move::Kind::look:
        notice(move->client, Notice::Kind::look_again, 0, 0);
        break;
      case Move::Kind::open_hold:
        gates_.open_first();
        retry_parked();
        break;
      case Move::Kind::deadlock:
        report_deadlock();
        break;
    }
  }
}

void BrokerState::reply(ClientId client, std::uint32_t request, Answer answer) {
  // Published before the answer, so that whoever hears of a change finds it.
  page_.set_generation(machine_.binding_generation());
  if (request == 0) return;
  WireWriter packet;
  packet.put(ToClient::reply).put(request).put(answer.code).put(answer.at);
  Bytes bytes = packet.bytes();
  bytes.insert(bytes.end(), answer.fields.begin(), answer.fields.end());
  outlet_.send(client, std::move(bytes), std::move(answer.fd));
}

void BrokerState::reply_or_park(const Request& request, std::uint64_t handle,
                                std::function<std::optional<Answer>()> attempt) {
  if (auto answer = attempt()) return reply(request, std::move(*answer));
  quiescence_.parked(request.client);
  parked_.push_back({request.client, request.id, handle, std::move(attempt)});
}

void BrokerState::retry_parked() {
  for (std::size_t i = 0; i < parked_.size();) {
    auto answer = parked_[i].attempt();
    if (!answer) {
      ++i;
      continue;
    }
    const Parked call = std::move(parked_[i]);
    parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i));
    quiescence_.unparked(call.client);
    reply(call.client, call.request, std::move(*answer));
  }
}

void BrokerState::notice(ClientId client, Notice::Kind kind, std::uint64_t id, Ns at,
                         const std::string& text) {
  WireWriter packet;
  packet.put(ToClient::notice).put(static_cast<std::uint8_t>(kind)).put(id).put(at);
  outlet_.send(client, packet.put_text(text).bytes(), {});
}

void BrokerState::unstick(ClientId client, Notice::Kind kind, std::uint64_t id, Ns at) {
  quiescence_.noticed(client);
  notice(client, kind, id, at);
}

void BrokerState::becomes_unmanaged() {
  page_.set_unmanaged(static_cast<std::uint64_t>(quiescence_.unmanaged()));
  // Nobody waits for anybody's device work from now on.
  for (const ClientId client : clients_) unstick(client, Notice::Kind::granted, 0, kNever);
  serve_all();
}

void BrokerState::forget_freed() {
  page_.set_generation(machine_.binding_generation());
  for (const std::uint64_t allocation : machine_.take_freed()) {
    words_.forget_allocation(allocation);
  }
}

void BrokerState::report_deadlock() {
  DeadlockReport report;
  report.gpus = machine_.gpus();
  std::vector<ClientId> ordered = clients_;
  std::sort(ordered.begin(), ordered.end(), [](ClientId a, ClientId b) {
    return std::pair(rank_of(a), a) < std::pair(rank_of(b), b);
  });
  for (const ClientId client : ordered) {
    const Stuck* stuck = quiescence_.stuck(client);
    DeadlockReport::Rank rank{rank_of(client), "", "", {}};
    if (stuck != nullptr) rank = {rank_of(client), stuck->where, stuck->calls, {}};
    for (const Parked& call : parked_) {
      if (call.client == client && call.handle != 0) {
        rank.object = machine_.team_of_handle(call.handle);
      }
    }
    report.ranks.push_back(std::move(rank));
  }
  find_races();  // they may be why, and whoever hears of a deadlock may end us at once
  outlet_.deadlocked(report);
  const std::string text = deadlock_text(report);
  for (const ClientId client : clients_) notice(client, Notice::Kind::deadlock, 0, 0, text);
}

}  // namespace symmcts::platform

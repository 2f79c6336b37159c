// Machine: multicast objects.
#include <algorithm>

#include "harness/platform/model/machine.hpp"

namespace symmcts::platform {

Code Machine::multicast_create(ClientId client, std::uint32_t devices, std::uint64_t size,
                               std::uint32_t handle_types, HandleInfo& out) {
  if (!multicast_) return Code::not_supported;
  // Fewer than two devices: reported (torchcomms' multicast tests; XLA refuses it up front).
  if (devices < 2) return Code::invalid_value;
  if (size == 0 || size % multicast_granularity_ != 0) return Code::invalid_value;
  if (const Code code = check_handle_types(client, handle_types); code != Code::success)
    return code;
  const std::uint64_t id = new_id(client, ObjectKind::multicast);
  MulticastObject& object = teams_[id];
  object.id = id;
  object.creator = rank_of(client);
  object.host = host_of(client);
  object.handle_types = handle_types;
  // The capacity is the object's real size; the size that was asked for is forgotten (A3.5).
  const std::uint64_t unit =
      std::max(faults_.multicast_capacity_unit.value_or(1), std::uint64_t{1});
  if (size > ~std::uint64_t{0} - unit) return Code::out_of_memory;
  object.size = (size + unit - 1) / unit * unit;
  object.team = MulticastTeam(devices);
  out = add_handle(client, object, true);
  return Code::success;
}

Code Machine::multicast_add_device(ClientId client, std::uint64_t handle, int gpu, Ns now) {
  const Handle* entry = held(client, handle);
  if (entry == nullptr || kind_of(entry->object) != ObjectKind::multicast) {
    return Code::invalid_value;
  }
  if (gpu < 0 || gpu >= gpus_ || host_of_gpu(gpu) != host_of(client)) return Code::invalid_device;
  // Refused at the attach, not at the creation (open kernel modules, facts A0.5).
  if (faults_.confidential_computing) return Code::not_supported;
  MulticastObject& object = teams_.at(entry->object);
  MulticastTeam& team = object.team;
  // A clique other than the first GPU's is refused (facts A8.3; the code is inferred, A8.4). What
  // is refused anyway, a GPU twice or one too many, keeps its own code.
  const bool joins = !team.has(gpu) && !team.gathered();
  if (joins && !team.gpus().empty() && domain_of_gpu(team.gpus().front()) != domain_of_gpu(gpu)) {
    return Code::invalid_device;
  }
  if (const Code code = team.add(gpu, now); code != Code::success) {
    // A duplicate or surplus attach from another node spoils the object for everybody (A8.5).
    if (host_of(client) != object.host) team.spoil();
    return code;
  }
  if (team.gathered()) {
    // Exhaustion shows at bind, not here (NCCL#2077; the fabric manager answers later).
    std::uint64_t& used = slots_used_[domain_of_gpu(gpu)];
    const bool slot = used < slots_;
    if (slot) ++used;
    team.set_up(slot);
  }
  return Code::success;
}

std::uint64_t Machine::slots_used() const {
  std::uint64_t used = 0;
  for (const auto& [domain, slots] : slots_used_) used += slots;
  return used;
}

TeamCall Machine::await_team(const MulticastObject& object, Ns now) const {
  // That a spoiled object answers ILLEGAL_STATE is inferred (A8.5 names no CUDA code).
  if (object.team.spoiled()) return {false, Code::illegal_state, now};
  if (!object.team.gathered()) return {true, Code::success, now};
  const Ns from = std::max(now, object.team.gathered_at());
  if (faults_.fabric_manager == FabricManager::absent) return {false, Code::illegal_state, from};
  if (faults_.fabric_manager == FabricManager::restarted) return {false, Code::invalid_value, from};
  const Ns answered = object.team.gathered_at() + faults_.fabric_manager_stall;
  if (answered > from && answered - from > faults_.fabric_manager_patience) {
    return {false, Code::system_not_ready, from + faults_.fabric_manager_patience};
  }
  return {false, object.team.holds_slot() ? Code::success : Code::out_of_memory,
          std::max(from, answered)};
}

TeamCall Machine::multicast_bind(ClientId client, std::uint64_t handle, std::uint64_t mc_offset,
                                 std::uint64_t allocation, std::uint64_t mem_offset,
                                 std::uint64_t size, Ns now) {
  const Handle* entry = held(client, handle);
  const auto memory = allocations_.find(allocation);
  if (entry == nullptr || kind_of(entry->object) != ObjectKind::multicast ||
      memory == allocations_.end() || !reaches(client, allocation)) {
    return {false, Code::invalid_value, now};
  }
  MulticastObject& object = teams_.at(entry->object);
  TeamCall call = await_team(object, now);
  if (call.waits || call.code != Code::success) return call;

  const Allocation& bound = memory->second;
  const auto unaligned = [&](std::uint64_t value) { return value % multicast_granularity_ != 0; };
  // Written so that no sum can overflow.
  const auto fits = [&](std::uint64_t offset, std::uint64_t whole) {
    return size <= whole && offset <= whole - size;
  };
  if (size == 0 || unaligned(size) || unaligned(mc_offset) || unaligned(mem_offset)) {
    call.code = Code::invalid_value;
  } else if (!fits(mc_offset, object.size) || !fits(mem_offset, bound.size)) {
    call.code = Code::invalid_value;
  } else if (!object.team.has(bound.gpu)) {
    call.code = Code::invalid_device;
  } else if (object.handle_types != 0 && bound.handle_types == 0) {
    call.code = Code::invalid_value;  // cuda.h: a shareable object takes shareable memory only
  } else if (!object.team.bind({bound.gpu, mc_offset, allocation, mem_offset, size})) {
    call.code = Code::invalid_value;
  } else {
    ++generation_;
  }
  return call;
}

Code Machine::multicast_unbind(ClientId client, std::uint64_t handle, int gpu,
                               std::uint64_t mc_offset, std::uint64_t size) {
  const Handle* entry = held(client, handle);
  if (entry == nullptr || kind_of(entry->object) != ObjectKind::multicast) {
    return Code::invalid_value;
  }
  // Anything but an exact match is undefined by the manual; INVALID_VALUE was seen
  // (pytorch#162429).
  MulticastTeam& team = teams_.at(entry->object).team;
  if (faults_.unbind_ignores_size) size = team.bound_at(gpu, mc_offset);
  if (!team.unbind(gpu, mc_offset, size)) return Code::invalid_value;
  ++generation_;
  return Code::success;
}

const std::vector<Replica>* Machine::replicas(std::uint64_t object) const {
  const auto it = teams_.find(object);
  return it == teams_.end() ? nullptr : &it->second.team.bound();
}

std::optional<TeamView> Machine::team_of_handle(std::uint64_t handle) const {
  const Handle* entry = find_handle(handle);
  if (entry == nullptr || kind_of(entry->object) != ObjectKind::multicast) return std::nullopt;
  const MulticastObject& object = teams_.at(entry->object);
  return TeamView{object.creator, object.team.wanted(), object.team.gpus()};
}

}  // namespace symmcts::platform

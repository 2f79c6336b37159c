#include "harness/platform/model/machine.hpp"

#include <algorithm>
#include <utility>

namespace symmcts::platform {

Machine::Machine(const Profile& profile, std::uint64_t seed, Faults faults)
    : faults_(std::move(faults)),
      gpus_(profile.hosts.value * profile.gpus_per_host.value),
      gpus_per_host_(profile.gpus_per_host.value),
      hosts_(profile.hosts.value),
      gpus_per_domain_(profile.gpus_per_domain.value),
      gpu_memory_(profile.gpu_memory.value),
      granularity_(profile.granularity.value),
      multicast_granularity_(profile.multicast_granularity.value),
      slots_(std::min(profile.multicast_slots.value,
                      faults_.multicast_slots.value_or(profile.multicast_slots.value))),
      multicast_(profile.multicast.value),
      fabric_(profile.fabric.value),
      posix_fd_(profile.posix_fd.value),
      imex_channel_(profile.imex_channel.value),
      memory_used_(static_cast<std::size_t>(gpus_)),
      fabric_registry_(seed) {}

std::optional<ClientId> Machine::attach(int rank, int host) {
  if (host < 0 || host >= hosts_ || rank > kMaxRank) return std::nullopt;
  if (rank < 0) {
    rank = 0;
    while (incarnations_.contains(rank)) ++rank;
  }
  int& incarnation = incarnations_[rank];
  if (incarnation >= kMaxIncarnations) return std::nullopt;
  const ClientId id = client_id(incarnation++, rank);
  clients_[id].host = host;
  return id;
}

void Machine::detach(ClientId client) {
  for (auto it = mappings_.begin(); it != mappings_.end();) {
    Handle& handle = handles_.at(it->second);
    if (handle.owner != client) {
      ++it;
      continue;
    }
    --handle.mappings;
    it = mappings_.erase(it);
  }
  std::vector<std::uint64_t> owned;
  for (auto& [id, handle] : handles_) {
    if (handle.owner != client) continue;
    handle.count = 0;
    owned.push_back(id);
  }
  for (const std::uint64_t id : owned) drop_handle_if_unused(id);
  clients_.erase(client);
}

Code Machine::create_memory(ClientId client, int gpu, std::uint64_t size,
                            std::uint32_t handle_types, HandleInfo& out) {
  // Unaligned size INVALID_VALUE and FABRIC without a channel NOT_PERMITTED: measured on H200.
  if (size == 0 || size % granularity_ != 0) return Code::invalid_value;
  if (gpu < -1 || gpu >= gpus_) return Code::invalid_device;
  if (gpu >= 0 && host_of_gpu(gpu) != host_of(client)) return Code::invalid_device;
  // Host memory is never shareable (cuda.h:cuMemCreate).
  if (gpu < 0 && handle_types != 0) return Code::invalid_value;
  if (const Code code = check_handle_types(client, handle_types); code != Code::success)
    return code;
  const bool device = gpu >= 0;
  if (device && size > gpu_memory_ - memory_used(gpu)) return Code::out_of_memory;
  auto memory = MachineMemory::make(size);
  if (!memory) return Code::out_of_memory;

  const std::uint64_t id = new_id(client, ObjectKind::memory);
  Allocation& allocation = allocations_[id];
  allocation.id = id;
  allocation.creator = rank_of(client);
  allocation.host = host_of(client);
  allocation.handle_types = handle_types;
  allocation.size = size;
  allocation.gpu = gpu;
  allocation.memory = std::move(memory);
  if (device) memory_used_[static_cast<std::size_t>(gpu)] += size;
  out = add_handle(client, allocation, true);
  return Code::success;
}

Code Machine::retain(ClientId client, std::uint64_t handle) {
  const auto it = handles_.find(handle);
  if (it == handles_.end() || it->second.owner != client) return Code::invalid_value;
  ++it->second.count;
  return Code::success;
}

Code Machine::release(ClientId client, std::uint64_t handle) {
  Handle* entry = held(client, handle);
  if (entry == nullptr) return Code::invalid_value;
  --entry->count;
  drop_handle_if_unused(handle);
  return Code::success;
}

TeamCall Machine::map(ClientId client, std::uint64_t handle, Ns now, std::uint64_t& mapping) {
  Handle* entry = held(client, handle);
  if (entry == nullptr) return {false, Code::invalid_value, now};
  TeamCall call{false, Code::success, now};
  if (kind_of(entry->object) == ObjectKind::multicast) {
    call = await_team(teams_.at(entry->object), now);
    if (call.waits || call.code != Code::success) return call;
  }
  mapping = new_id(client, kind_of(entry->object));
  mappings_[mapping] = handle;
  ++entry->mappings;
  return call;
}

Code Machine::unmap(ClientId client, std::uint64_t mapping) {
  const auto it = mappings_.find(mapping);
  if (it == mappings_.end() || handles_.at(it->second).owner != client) return Code::invalid_value;
  const std::uint64_t handle = it->second;
  mappings_.erase(it);
  --handles_.at(handle).mappings;
  drop_handle_if_unused(handle);
  return Code::success;
}

const MachineMemory* Machine::memory_of_handle(std::uint64_t handle) const {
  const Handle* entry = find_handle(handle);
  std::uint64_t size = 0;
  return entry == nullptr ? nullptr : memory(entry->object, size);
}

const MachineMemory* Machine::memory(std::uint64_t allocation, std::uint64_t& size) const {
  const auto it = allocations_.find(allocation);
  if (it == allocations_.end()) return nullptr;
  size = it->second.size;
  return &*it->second.memory;
}

std::uint64_t Machine::memory_used(int gpu) const {
  return memory_used_[static_cast<std::size_t>(gpu)];
}

std::vector<std::uint64_t> Machine::take_freed() { return std::exchange(freed_, {}); }

int Machine::host_of(ClientId client) const {
  const auto it = clients_.find(client);
  return it == clients_.end() ? 0 : it->second.host;
}

std::uint64_t Machine::new_id(ClientId client, ObjectKind kind) {
  return machine_id(kind, client, clients_[client].next++);
}

Machine::Handle* Machine::held(ClientId client, std::uint64_t handle) {
  const auto it = handles_.find(handle);
  const bool ok = it != handles_.end() && it->second.owner == client && it->second.count > 0;
  return ok ? &it->second : nullptr;
}

const Machine::Handle* Machine::find_handle(std::uint64_t handle) const {
  const auto it = handles_.find(handle);
  return it == handles_.end() ? nullptr : &it->second;
}

Machine::SharedObject* Machine::object(std::uint64_t id) {
  if (kind_of(id) == ObjectKind::multicast) {
    const auto it = teams_.find(id);
    return it == teams_.end() ? nullptr : &it->second;
  }
  const auto it = allocations_.find(id);
  return it == allocations_.end() ? nullptr : &it->second;
}

bool Machine::reaches(ClientId client, std::uint64_t object) const {
  return std::any_of(handles_.begin(), handles_.end(), [&](const auto& entry) {
    return entry.second.owner == client && entry.second.object == object;
  });
}

HandleInfo Machine::add_handle(ClientId client, SharedObject& object, bool native) {
  const ObjectKind kind = kind_of(object.id);
  const std::uint64_t id = new_id(client, kind);
  handles_[id] = {client, object.id, native, 1, 0};
  ++object.references;
  if (native) ++object.create_references;
  const bool memory = kind == ObjectKind::memory;
  // An imported handle shows no requested types (measured).
  return {id,
          object.id,
          kind,
          native,
          object.size,
          memory ? static_cast<Allocation&>(object).gpu : -1,
          native ? object.handle_types : 0};
}

void Machine::drop_handle_if_unused(std::uint64_t handle) {
  const Handle entry = handles_.at(handle);
  if (entry.count > 0 || entry.mappings > 0) return;
  handles_.erase(handle);
  if (entry.native) --object(entry.object)->create_references;
  drop_reference(entry.object);
}

void Machine::drop_reference(std::uint64_t id) {
  if (--object(id)->references > 0) return;
  if (kind_of(id) == ObjectKind::multicast) {
    const MulticastObject& gone = teams_.at(id);
    if (gone.team.holds_slot()) --slots_used_[domain_of_gpu(gone.team.gpus().front())];
    if (!gone.team.bound().empty()) ++generation_;
    teams_.erase(id);
    return;
  }
  // Memory that goes away leaves every team it was bound to (facts A10.3).
  for (auto& [team_id, team] : teams_) {
    if (team.team.detach(id)) ++generation_;
  }
  const Allocation& gone = allocations_.at(id);
  if (gone.gpu >= 0) memory_used_[static_cast<std::size_t>(gone.gpu)] -= gone.size;
  allocations_.erase(id);
  freed_.push_back(id);
}

}  // namespace symmcts::platform

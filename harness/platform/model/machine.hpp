#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "harness/platform/model/fabric_registry.hpp"
#include "harness/platform/model/faults.hpp"
#include "harness/platform/model/machine_ids.hpp"
#include "harness/platform/model/machine_memory.hpp"
#include "harness/platform/model/multicast_team.hpp"
#include "harness/platform/model/objects.hpp"
#include "harness/platform/model/profile.hpp"

namespace symmcts::platform {

// How a call that waits for a multicast team stands.
struct TeamCall {
  bool waits = false;  // the team is not complete: ask again after the next add
  Code code = Code::success;
  Ns at = 0;  // when the call ends; not before the last device was added
};

// What a call waits for, for people.
struct TeamView {
  int creator = 0;  // rank that created the object, also of the object a late import missed
  std::uint32_t wanted = 0;  // 0: an empty object, which no number of devices completes
  std::vector<int> added;    // GPUs, ascending
};

// The state that the processes of one virtual machine share: physical memory, handles, mappings,
// multicast objects, FABRIC tokens and switch slots. Plain data with the driver's rules; it knows
// neither sockets nor time, beyond the clocks that callers bring along. Not thread safe.
//
// An object lives while anybody holds a handle of it, a mapping or an exported descriptor (facts
// A4.2, A6.12, A10.8). Its *create reference* is the native handle or a mapping made from it.
// Each call returns the driver's code; a handle that the caller does not hold is invalid_value,
// where the driver would crash (measured).
class Machine {
 public:
  Machine(const Profile& profile, std::uint64_t seed, Faults faults = {});

  // A process joins. `rank` -1: the lowest that nobody has had. Nothing when rank or host lies
  // outside the machine, or the rank has joined too often.
  std::optional<ClientId> attach(int rank, int host);
  // It has gone: everything it held is given back. Its devices stay in their teams (facts A10.10).
  void detach(ClientId client);

  Code create_memory(ClientId client, int gpu, std::uint64_t size, std::uint32_t handle_types,
                     HandleInfo& out);
  // One reference to a handle more (while it or a mapping made from it lives), or one less.
  Code retain(ClientId client, std::uint64_t handle);
  Code release(ClientId client, std::uint64_t handle);

  // An exported POSIX descriptor holds a reference until it is closed everywhere.
  Code export_descriptor(ClientId client, std::uint64_t handle, std::uint64_t& descriptor);
  void close_descriptor(std::uint64_t descriptor);
  Code import_descriptor(ClientId client, std::uint64_t descriptor, HandleInfo& out);
  Code export_fabric(ClientId client, std::uint64_t handle, FabricToken& out);
  Code import_fabric(ClientId client, const FabricToken& token, HandleInfo& out);
  // What an import would name, without importing.
  std::optional<ObjectKind> kind_of_token(const FabricToken& token) const;
  std::optional<ObjectKind> kind_of_descriptor(std::uint64_t descriptor) const;

  // A mapping keeps its object, and the handle it was made from can be retained again through it
  // (facts A5.1). Of a multicast object: waits for the team.
  TeamCall map(ClientId client, std::uint64_t handle, Ns now, std::uint64_t& mapping);
  Code unmap(ClientId client, std::uint64_t mapping);
  // The memory of the object that `handle` refers to; null for multicast.
  const MachineMemory* memory_of_handle(std::uint64_t handle) const;
  const MachineMemory* memory(std::uint64_t allocation, std::uint64_t& size) const;

  Code multicast_create(ClientId client, std::uint32_t devices, std::uint64_t size,
                        std::uint32_t handle_types, HandleInfo& out);
  Code multicast_add_device(ClientId client, std::uint64_t handle, int gpu, Ns now);
  // Waits for the team, then checks in the order: slot, alignment, bounds, device, shareability,
  // occupancy.
  TeamCall multicast_bind(ClientId client, std::uint64_t handle, std::uint64_t mc_offset,
                          std::uint64_t allocation, std::uint64_t mem_offset, std::uint64_t size,
                          Ns now);
  Code multicast_unbind(ClientId client, std::uint64_t handle, int gpu, std::uint64_t mc_offset,
                        std::uint64_t size);
  // Null for an object that has gone.
  const std::vector<Replica>* replicas(std::uint64_t object) const;
  std::optional<TeamView> team_of_handle(std::uint64_t handle) const;

  // Changes whenever a range is bound or taken off.
  std::uint64_t binding_generation() const { return generation_; }
  // In all domains together.
  std::uint64_t slots_used() const;
  std::uint64_t memory_used(int gpu) const;
  std::size_t objects() const { return allocations_.size() + teams_.size(); }
  // Allocations that have ended since the last call.
  std::vector<std::uint64_t> take_freed();

  int gpus() const { return gpus_; }
  int host_of_gpu(int gpu) const { return gpu / gpus_per_host_; }
  int domain_of_gpu(int gpu) const { return platform::domain_of_gpu(gpu, gpus_per_domain_); }
  int host_of(ClientId client) const;

 private:
  struct SharedObject {
    std::uint64_t id = 0;
    int creator = 0;  // rank
    int host = 0;     // of the creator
    std::uint32_t handle_types = 0;
    std::uint64_t size = 0;
    int references = 0;         // handles (mapped or held) and exported descriptors
    int create_references = 0;  // those of them that are native handles
  };
  struct Allocation : SharedObject {
    int gpu = -1;
    std::optional<MachineMemory> memory;
  };
  struct MulticastObject : SharedObject {
    MulticastTeam team{0};
  };
  struct Handle {
    ClientId owner = 0;
    std::uint64_t object = 0;
    bool native = true;
    std::uint32_t count = 1;     // create or import, and retains
    std::uint32_t mappings = 0;  // made from it; it can be retained while there is one
  };
  struct Client {
    int host = 0;
    std::uint32_t next = 1;
  };

  std::uint64_t new_id(ClientId client, ObjectKind kind);
  Handle* held(ClientId client, std::uint64_t handle);
  const Handle* find_handle(std::uint64_t handle) const;
  SharedObject* object(std::uint64_t id);
  bool reaches(ClientId client, std::uint64_t object) const;
  HandleInfo add_handle(ClientId client, SharedObject& object, bool native);
  void drop_handle_if_unused(std::uint64_t handle);
  void drop_reference(std::uint64_t object);
  Code check_handle_types(ClientId client, std::uint32_t types) const;
  bool imex_channel(ClientId client) const;
  TeamCall await_team(const MulticastObject& object, Ns now) const;

  const Faults faults_;
  // The numbers of the profile that matter here.
  int gpus_, gpus_per_host_, hosts_, gpus_per_domain_;
  std::uint64_t gpu_memory_, granularity_, multicast_granularity_, slots_;
  bool multicast_, fabric_, posix_fd_, imex_channel_;

  std::map<ClientId, Client> clients_;
  std::map<int, int> incarnations_;  // of each rank so far
  std::map<std::uint64_t, Allocation> allocations_;
  std::map<std::uint64_t, MulticastObject> teams_;
  std::map<std::uint64_t, Handle> handles_;
  std::map<std::uint64_t, std::uint64_t> mappings_;     // to the handle
  std::map<std::uint64_t, std::uint64_t> descriptors_;  // to the object
  std::vector<std::uint64_t> memory_used_;
  std::vector<std::uint64_t> freed_;
  FabricRegistry fabric_registry_;
  std::map<int, std::uint64_t> slots_used_;  // by NVLink domain: each has switches of its own
  std::uint64_t generation_ = 1;
};

}  // namespace symmcts::platform

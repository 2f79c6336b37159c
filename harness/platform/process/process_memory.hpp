#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/platform/process/address_space.hpp"
#include "harness/platform/process/handle_table.hpp"
#include "harness/platform/process/host_memory.hpp"
#include "harness/platform/process/mapping_table.hpp"
#include "harness/platform/process/memory.hpp"
#include "harness/platform/process/memory_file.hpp"
#include "harness/platform/process/replica_files.hpp"

namespace symmcts::platform {

// The one implementation of Memory; its parts are in process_memory_*.cpp, one subject a file.
//
// Locking: mutex_ guards the tables and is never held across a call to the broker, because that
// call may wait for another rank (ai-dynamo/snapshot#331 is what happens otherwise). What a call
// needs while it waits is pinned: handles and files by shared_ptr, an address range by a mapping
// that is pending.
class ProcessMemory final : public Memory {
 public:
  ProcessMemory(Client& client, const Profile& profile, HostClock& clock, std::vector<int> visible);

  // process_memory_mappings.cpp
  Code reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
               std::uint64_t& address) override;
  Code free_reservation(std::uint64_t address, std::uint64_t size) override;
  Code map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
           AppHandle handle) override;
  Code unmap(std::uint64_t address, std::uint64_t size) override;
  Code set_access(std::uint64_t address, std::uint64_t size,
                  const std::vector<AccessGrant>& grants) override;
  Code get_access(std::uint64_t address, int ordinal, std::uint32_t& flags) override;

  // process_memory_handles.cpp
  Code create(int ordinal, std::uint64_t size, std::uint32_t handle_types, AppHandle& out) override;
  Code release(AppHandle handle) override;
  Code retain(std::uint64_t address, AppHandle& out) override;
  Code info(AppHandle handle, HandleInfo& out) override;
  Code export_fd(AppHandle handle, int& fd) override;
  Code export_fabric(AppHandle handle, std::array<std::uint8_t, 64>& out) override;
  Code import_fd(int fd, AppHandle& out) override;
  Code import_fabric(const std::array<std::uint8_t, 64>& bytes, AppHandle& out) override;

  // process_memory_multicast.cpp
  Code multicast_create(std::uint32_t devices, std::uint64_t size, std::uint32_t handle_types,
                        AppHandle& out) override;
  Code multicast_add_device(AppHandle handle, int ordinal) override;
  Code multicast_bind_mem(AppHandle handle, std::uint64_t mc_offset, AppHandle memory,
                          std::uint64_t mem_offset, std::uint64_t size) override;
  Code multicast_bind_address(AppHandle handle, std::uint64_t mc_offset, std::uint64_t address,
                              std::uint64_t size) override;
  Code multicast_unbind(AppHandle handle, int ordinal, std::uint64_t mc_offset,
                        std::uint64_t size) override;

  // process_memory_alloc.cpp
  Code alloc_device(int ordinal, std::uint64_t size, std::uint64_t& address) override;
  Code free_device(std::uint64_t address) override;
  Code alloc_host(std::uint64_t size, void*& address) override;
  Code free_host(void* address) override;
  Code register_host(void* address, std::uint64_t size) override;
  Code unregister_host(void* address) override;
  void used(int ordinal, std::uint64_t& bytes) override;

  // process_memory_left.cpp
  std::vector<Misuse> left() override;

  // process_memory_resolve.cpp
  AddressInfo resolve(std::uint64_t address) override;
  bool usable(std::uint64_t address, std::uint64_t size, int ordinal, Touch touch) override;

  std::vector<Place> places(std::uint64_t address, std::uint64_t size) override;
  bool shared(std::uint64_t address, std::uint64_t size) override;

  // process_memory_bytes.cpp
  Code copy_bytes(std::uint64_t destination, std::uint64_t source, std::uint64_t size) override;
  Code fill_bytes(std::uint64_t destination, std::uint32_t value, int width,
                  std::uint64_t count) override;
  Code write_word(std::uint64_t destination, std::uint64_t value, int width, Ns at) override;
  void log_words(std::uint64_t destination, std::uint64_t size, Ns at) override;

 private:
  // A stretch of one mapping or of host memory, pinned for the time of a copy.
  struct Stretch {
    std::uint64_t size = 0;
    std::byte* host = nullptr;         // host memory
    std::shared_ptr<Mapping> mapping;  // or a mapping,
    std::uint64_t offset = 0;          // this far into its object
  };
  // Bytes that a write reaches: once for memory, once a replica for multicast.
  struct Target {
    std::byte* bytes = nullptr;
    std::uint64_t at = 0;  // from the start of the write
    std::uint64_t size = 0;
    std::uint64_t allocation = 0;  // 0: host memory
    std::uint64_t offset = 0;      // in the allocation
  };
  using Visit = std::function<void(const Target&)>;

  // Makes the driver call `function` to the broker: scenario gate, call, gate passed; host time
  // runs on to its end, and device work goes on meanwhile.
  using GatedCall = std::function<Code(CallTime&, std::uint64_t& gate_handle)>;
  Code gated(const char* function, std::uint64_t handle, const GatedCall& call);
  // The same with a gate of its own kind.
  Code gated_by(const std::function<void(CallTime&)>& gate, const char* function,
                std::uint64_t handle, const GatedCall& call);
  // The same without a gate, for a further step of the driver call `function`.
  Code timed(const char* function, const std::function<Code(CallTime&)>& call);
  // invalid_value, with one line on stderr and one for the evidence: the real driver crashes here
  // (hardware/README.md).
  Code refuse(const char* function, AppHandle handle);
  std::shared_ptr<Handle> find_handle(AppHandle handle);
  bool visible(int ordinal) const;
  int ordinal_of(int gpu) const;  // -1 where this process does not see the GPU

  Code check_memory_map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                        const Handle& handle) const;
  // Does one of the mappings show memory of an NVLink domain other than that of the GPU?
  bool crosses_domains(const std::vector<std::shared_ptr<Mapping>>& tiles, int ordinal) const;
  Code check_multicast_map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                           const Handle& handle) const;
  // Asks the broker to back a pending mapping; takes it out of the table again on failure.
  Code complete(const std::shared_ptr<Mapping>& mapping, Code code, const Mapped& mapped);
  // Gives back what a mapping held. It is out of the table already.
  void dispose(const std::shared_ptr<Mapping>& mapping);
  Code import(const std::function<void(CallTime&)>& gate,
              const std::function<Code(CallTime&, HandleInfo&)>& call, AppHandle& out);

  bool split(std::uint64_t address, std::uint64_t size, std::vector<Stretch>& out);
  Code visit(std::uint64_t address, std::uint64_t size, const Visit& visit);
  void touch(const Target& target);
  Code visit_replicas(const Stretch& stretch, std::uint64_t at, const Visit& visit);

  Client& client_;
  const Profile& profile_;
  HostClock& clock_;
  const std::vector<int> visible_;

  MemoryFiles files_;
  ReplicaFiles replicas_;

  std::mutex mutex_;
  AddressSpace space_;
  HandleTable handles_;
  MappingTable mappings_;
  HostMemory host_;
  std::map<std::uint64_t, Ns> reserved_;  // what the application reserved, and when
};

}  // namespace symmcts::platform

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/platform/broker/client.hpp"
#include "harness/platform/model/profile.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// The host clock of a rank, seen from the memory calls: each call takes the time, may wait in the
// broker, and puts the time back. Implemented by Streams (streams.hpp).
class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual Ns now() const = 0;
  virtual void advance_to(Ns at) = 0;
  // Brackets a call that may block in the broker: device work goes on meanwhile.
  virtual void enter_blocking(const char* where) = 0;
  virtual void leave_blocking(Ns at) = 0;
};

// How device work uses a range: what is only read may lie behind CU_MEM_ACCESS_FLAGS_PROT_READ.
enum class Touch : std::uint8_t { reads, writes };

// What an address means to this process at this moment.
struct AddressInfo {
  enum class Kind : std::uint8_t { host_pageable, host_pinned, memory, multicast, reserved };
  Kind kind = Kind::host_pageable;
  int ordinal = -1;     // device as this process counts them, -1 where it does not see the
                        // owner; for any multicast mapping the profile's aperture_ordinal
                        // (reported, torchcomms#3498); -1 for host memory
  int gpu = -1;         // machine-wide index of the owner; -1 for host and multicast
  bool native = false;  // provenance of the handle that was mapped
  std::uint32_t allowed_handle_types = 0;  // what CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES shows
  std::uint64_t object = 0;                // allocation or multicast object
  std::uint64_t offset = 0;                // of the address in it
  std::uint64_t block_id = 0;              // per-process id of the physical allocation
  std::uint64_t range_start = 0, range_size = 0;     // the reservation (or host block)
  std::uint64_t mapping_base = 0, mapping_size = 0;  // 0 where nothing is mapped
  std::uint64_t access = 0;    // bit i set: device ordinal i may read and write
  std::uint64_t readable = 0;  // the same for who may at least read
};

// Copies and fills up to so many bytes may be flags that somebody waits for (design, section 5).
inline constexpr std::uint64_t kLongestSignal = 16;

// A stretch of physical memory, or of host memory, which has no allocation: then `offset` is its
// address.
struct Place {
  std::uint64_t allocation = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The number that the application sees for a physical handle: process-local (cuda.h:cuMemCreate).
using AppHandle = std::uint64_t;

struct AccessGrant {
  int ordinal = 0;
  std::uint32_t flags = 0;  // 0 none, 1 read, 3 read and write (cuda.h:CUmemAccess_flags)
};

// All memory state of one process: reservations, handles, mappings, host blocks. Device addresses
// are reserved PROT_NONE from 0x7e80'0000'0000 up in call order, so that a host dereference of a
// device pointer faults; physical memory is mapped elsewhere, lazily, for the copy engines. Thread
// safe. Every call checks its arguments in the order that the driver was measured to use
// (hardware/README.md, facts A1..A10) and returns the driver's code.
class Memory {
 public:
  // `visible` lists the machine-wide indices of the GPUs that this process sees, by ordinal.
  static std::unique_ptr<Memory> make(Client& client, const Profile& profile, HostClock& clock,
                                      std::vector<int> visible);
  virtual ~Memory() = default;

  // Address space.
  virtual Code reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
                       std::uint64_t& address) = 0;
  virtual Code free_reservation(std::uint64_t address, std::uint64_t size) = 0;
  virtual Code map(std::uint64_t address, std::uint64_t size, std::uint64_t offset,
                   AppHandle handle) = 0;
  virtual Code unmap(std::uint64_t address, std::uint64_t size) = 0;
  virtual Code set_access(std::uint64_t address, std::uint64_t size,
                          const std::vector<AccessGrant>& grants) = 0;
  virtual Code get_access(std::uint64_t address, int ordinal, std::uint32_t& flags) = 0;

  // Physical memory and handles.
  virtual Code create(int ordinal, std::uint64_t size, std::uint32_t handle_types,
                      AppHandle& out) = 0;
  virtual Code release(AppHandle handle) = 0;
  virtual Code retain(std::uint64_t address, AppHandle& out) = 0;
  virtual Code info(AppHandle handle, HandleInfo& out) = 0;
  virtual Code export_fd(AppHandle handle, int& fd) = 0;
  virtual Code export_fabric(AppHandle handle, std::array<std::uint8_t, 64>& out) = 0;
  virtual Code import_fd(int fd, AppHandle& out) = 0;
  virtual Code import_fabric(const std::array<std::uint8_t, 64>& bytes, AppHandle& out) = 0;

  // Multicast.
  virtual Code multicast_create(std::uint32_t devices, std::uint64_t size,
                                std::uint32_t handle_types, AppHandle& out) = 0;
  virtual Code multicast_add_device(AppHandle handle, int ordinal) = 0;
  virtual Code multicast_bind_mem(AppHandle handle, std::uint64_t mc_offset, AppHandle memory,
                                  std::uint64_t mem_offset, std::uint64_t size) = 0;
  virtual Code multicast_bind_address(AppHandle handle, std::uint64_t mc_offset,
                                      std::uint64_t address, std::uint64_t size) = 0;
  virtual Code multicast_unbind(AppHandle handle, int ordinal, std::uint64_t mc_offset,
                                std::uint64_t size) = 0;

  // cuMemAlloc and pinned host memory.
  virtual Code alloc_device(int ordinal, std::uint64_t size, std::uint64_t& address) = 0;
  virtual Code free_device(std::uint64_t address) = 0;
  virtual Code alloc_host(std::uint64_t size, void*& address) = 0;
  virtual Code free_host(void* address) = 0;
  virtual Code register_host(void* address, std::uint64_t size) = 0;
  virtual Code unregister_host(void* address) = 0;
  virtual void used(int ordinal, std::uint64_t& bytes) = 0;  // allocated by this process

  // What the application has not given up: one entry a kind (physical handles, mappings,
  // reservations; not cuMemAlloc's), for the end of the process. Never waits for a call that is
  // going on in another thread: then it knows nothing.
  virtual std::vector<Misuse> left() { return {}; }

  // Any address. Host memory that we do not know is host_pageable; a device address whose
  // reservation is gone is reserved, with a range of size 0.
  virtual AddressInfo resolve(std::uint64_t address) = 0;
  // True if [address, address + size) lies in one host block or in mappings that follow each other
  // directly, and `ordinal` may touch all of it in this way. Of cuMemAlloc's memory only the bytes
  // that were asked for count.
  virtual bool usable(std::uint64_t address, std::uint64_t size, int ordinal,
                      Touch touch = Touch::writes) = 0;

  // What an access to [address, address + size) reaches at this moment: of a multicast mapping the
  // bound replicas. Empty where it would fail.
  virtual std::vector<Place> places(std::uint64_t address, std::uint64_t size) {
    (void)address, (void)size;
    return {};
  }
  // May another process reach any of it: it was imported, exported, bound, or is multicast?
  virtual bool shared(std::uint64_t address, std::uint64_t size) {
    (void)address, (void)size;
    return false;
  }

  // Moves bytes now. A multicast destination reaches exactly the replicas bound at this moment; a
  // multicast source is undefined on hardware and refused here (illegal_address).
  virtual Code copy_bytes(std::uint64_t destination, std::uint64_t source, std::uint64_t size) = 0;
  virtual Code fill_bytes(std::uint64_t destination, std::uint32_t value, int width,
                          std::uint64_t count) = 0;
  // Stores a word of 4 or 8 bytes and logs it with the broker (every replica of a multicast
  // destination), so that waits see when it landed.
  virtual Code write_word(std::uint64_t destination, std::uint64_t value, int width, Ns at) = 0;
  // Logs the words of a copy or fill that has just been moved: all of a short one (at most 16
  // bytes), of a longer one those that this process has waited for or written as words.
  virtual void log_words(std::uint64_t destination, std::uint64_t size, Ns at) = 0;
};

}  // namespace symmcts::platform

#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

// What should be true of a process after the calls that it has made, by the measured facts
// (fixtures/oracles), cuda.h and the survey (facts A...): the oracle. Knows nothing of the
// platform.
namespace symmcts::fuzz {

constexpr std::size_t kBlock = std::size_t{2} << 20;  // the granularity, measured
constexpr std::size_t kCell = kBlock / 4;             // distance between the words that are watched
constexpr unsigned kFd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr unsigned kFabric = CU_MEM_HANDLE_TYPE_FABRIC;

// One 64-bit word of memory. Work on it that nothing orders makes its value unknown.
struct Cell {
  std::optional<std::uint64_t> value;
  std::uint64_t users = 0;  // streams with work on it that nobody has waited for, one bit each
};

// Memory or a multicast object.
struct Object {
  struct Binding {
    int device;
    std::size_t offset, size, memory_offset;
    std::weak_ptr<Object> memory;
  };
  int number = 0;  // for the journal
  bool multicast = false;
  std::size_t size = 0;
  unsigned types = 0;
  int device = -1;          // memory
  std::vector<Cell> cells;  // memory
  unsigned wanted = 0;      // multicast: devices; 0: an empty object, which no number completes
  std::set<int> devices;
  bool has_slot = false, out_of_slots = false;
  std::vector<Binding> bindings;

  bool complete() const { return wanted != 0 && devices.size() == wanted; }
};
using ObjectPtr = std::shared_ptr<Object>;
std::string name(const Object& object);  // for the journal

struct Handle {
  CUmemGenericAllocationHandle value = 0;
  ObjectPtr object;
  bool native = false;
  int references = 0;  // 0: released, and only mappings keep it
};
using HandlePtr = std::shared_ptr<Handle>;

struct Mapping {
  CUdeviceptr at = 0;
  std::size_t size = 0;
  HandlePtr handle;
  std::array<unsigned, 8> access{};
};

struct Stream {
  CUstream value = nullptr;
  int device = 0;
  std::size_t bit = 0;  // in Cell::users; the first 8 are the devices' default streams
};

struct Event {
  CUevent value = nullptr;
  int device = 0;
  bool timing = false, recorded = false;
};

struct World {
  int devices = 0;
  bool alone = true;    // nobody else is on the machine
  bool fabric = false;  // FABRIC handles are permitted
  std::size_t slots = 0;

  std::map<CUdeviceptr, std::size_t> reservations;
  std::map<CUdeviceptr, Mapping> mappings;
  std::map<CUmemGenericAllocationHandle, HandlePtr> handles;  // that the process holds
  std::vector<CUmemGenericAllocationHandle> released;
  std::map<int, ObjectPtr> descriptors;
  std::vector<std::pair<CUmemFabricHandle, std::weak_ptr<Object>>> tokens;
  std::map<CUdeviceptr, std::pair<int, std::size_t>> blocks;  // of cuMemAlloc: device, size
  std::map<void*, std::size_t> pinned;
  std::vector<Stream> streams;
  std::vector<Event> events;
  std::vector<CUcontext> contexts;  // the primary ones, retained
  std::set<std::pair<int, int>> peers;
  int current = 0;
  int made = 0;  // objects, for their numbers

  // The mapping that holds `at`, or null.
  Mapping* mapping_at(CUdeviceptr at);
  bool mapped_in(CUdeviceptr at, std::size_t size) const;
  // A handle of the process keeps the creator's reference: native, and held or mapped.
  bool created_here(const Object& object) const;
  // Everything that a handle, a mapping or a descriptor keeps; and of that, bytes of memory on a
  // device, and slots of the switch.
  std::set<ObjectPtr> objects(bool by_descriptors = true) const;
  std::size_t memory_used(int device, bool by_descriptors = true) const;
  std::size_t slots_used() const;
  // Forgets bindings of memory that is gone (A10.3).
  void collect();

  // The words of [at, at + size) behind a mapping; of a multicast mapping those of every replica.
  std::vector<Cell*> cells(const Mapping& mapping, std::size_t offset, std::size_t size);
  // Nothing is under way any more on the streams of `bits`.
  void settle(std::uint64_t bits);
  // Bits of the streams of a device.
  std::uint64_t bits_of(int device) const;
};

// A stream touches words: what others still do to them makes the value unknown.
void touch(const std::vector<Cell*>& cells, std::size_t bit);
void put(const std::vector<Cell*>& cells, std::size_t bit, std::optional<std::uint64_t> value);

}  // namespace symmcts::fuzz

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "harness/platform/process/handle_table.hpp"
#include "harness/platform/process/memory_file.hpp"

namespace symmcts::platform {

// One range of device addresses with something behind it.
struct Mapping {
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  std::uint64_t usable = 0;  // bytes that may be touched: less than size for cuMemAlloc
  std::shared_ptr<Handle> handle;
  std::uint64_t broker_id = 0;
  std::shared_ptr<MemoryFile> file;  // memory only
  std::vector<std::uint8_t> access;  // cuda.h:CUmemAccess_flags, by device ordinal
  bool allocated = false;            // by cuMemAlloc: has no handle that the application could know
  Ns made_at = 0;                    // host clock
  bool pending = false;              // the broker has not answered yet: nobody may use or unmap it
};

// The mappings of one process, by address. Not thread safe; the owner locks.
class MappingTable {
 public:
  // Precondition: free(mapping->base, mapping->size).
  void add(const std::shared_ptr<Mapping>& mapping) { mappings_.emplace(mapping->base, mapping); }
  void remove(const Mapping& mapping) { mappings_.erase(mapping.base); }

  // All of them, pending ones too, in order of address.
  std::vector<std::shared_ptr<Mapping>> all() const;
  // The mapping that holds `address` and is not pending; null otherwise.
  std::shared_ptr<Mapping> find(std::uint64_t address) const;
  // True if no mapping, pending or not, touches the range.
  bool free(std::uint64_t address, std::uint64_t size) const;
  // The mappings that together are exactly [address, address + size); empty where a part is not
  // mapped, pending, or the range cuts a mapping.
  std::vector<std::shared_ptr<Mapping>> tiles(std::uint64_t address, std::uint64_t size) const;

  // The mappings that lie in [address, address + size), pending ones too, in order of address;
  // nothing where the range cuts one.
  std::optional<std::vector<std::shared_ptr<Mapping>>> inside(std::uint64_t address,
                                                              std::uint64_t size) const;

 private:
  std::map<std::uint64_t, std::shared_ptr<Mapping>> mappings_;
};

}  // namespace symmcts::platform

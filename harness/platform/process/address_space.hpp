#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// Where device addresses begin: clear of the shadows of ASan and TSan (design, section 2).
inline constexpr std::uint64_t kDeviceBase = 0x7e80'0000'0000;
// Where they must end: stacks and the vdso of a 47-bit address space lie above.
inline constexpr std::uint64_t kDeviceEnd = 0x7ff0'0000'0000;

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

// The device address ranges of one process. Each is a PROT_NONE mapping of the kernel, so that no
// host allocation can land in it and a host dereference faults. Addresses depend on the order of
// the calls alone: each reservation takes the lowest free range that fits (alloc, free, alloc gives
// the same address again: SM-LIFE-4). Where the kernel has already put something of the host in the
// way (wide address randomization), that place is passed over. Not thread safe; the owner locks.
class AddressSpace {
 public:
  // `granularity` aligns every reservation, as the driver does for alignment 0.
  explicit AddressSpace(std::uint64_t granularity);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Reserves `size` bytes. invalid_value: size zero or no multiple of the granularity (measured,
  // oracles/h200-x2; the manual asks for the host's page only), hint no multiple of the host's
  // page, alignment not zero and no power of two (cuda.h:cuMemAddressReserve, A1.1). A hint (0:
  // none) is taken where it is free, aligned and in the device range; otherwise it is only a hint.
  // out_of_memory: no range is left.
  Code reserve(std::uint64_t size, std::uint64_t alignment, std::uint64_t hint,
               std::uint64_t& address);
  // Gives back exactly one reservation (A1.2), else invalid_value. The caller has made sure that
  // nothing is mapped in it.
  Code release(std::uint64_t address, std::uint64_t size);

  // The reservation that holds `address`.
  std::optional<AddressRange> find(std::uint64_t address) const;
  // True if every byte of the range is reserved, in one reservation or in several.
  bool covers(std::uint64_t address, std::uint64_t size) const;
  // True if [address, address + size) lies in one reservation.
  bool holds(std::uint64_t address, std::uint64_t size) const;
  // True for an address below the highest one ever handed out at which the kernel has nothing
  // mapped: a device address whose reservation is gone.
  bool dangling(std::uint64_t address) const;

 private:
  bool free_at(std::uint64_t start, std::uint64_t size) const;
  bool take(std::uint64_t start, std::uint64_t size);
  std::optional<std::uint64_t> lowest(std::uint64_t size, std::uint64_t alignment);

  std::uint64_t page_;
  std::uint64_t granularity_;
  std::uint64_t highest_ = kDeviceBase;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // start → size
};

}  // namespace symmcts::platform

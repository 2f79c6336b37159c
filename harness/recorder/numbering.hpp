#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace symmcts::recorder {

using Number = std::uint64_t;  // from 1, in order of appearance; 0: none

// Numbers values of one sort (streams, events). A value that was forgotten and comes again is a new
// thing with a new number.
class Numbers {
 public:
  Number of(std::uint64_t value);     // the value's number; numbers it if it is new
  Number fresh(std::uint64_t value);  // a new number, whatever the value meant before
  // Forgets the value, unless it was numbered after `last` (another thread got it again meanwhile).
  void forget(std::uint64_t value, Number last);
  Number last() const { return last_; }

 private:
  std::unordered_map<std::uint64_t, Number> numbers_;
  Number last_ = 0;
};

// Numbers allocation handles, which the driver counts: a value lives from its first creation or
// import to its last release.
class Handles {
 public:
  Number created(std::uint64_t value);   // a new handle
  Number imported(std::uint64_t value);  // new, or one reference more of a value that is alive
  // The handle that cuMemRetainAllocationHandle returned for a mapping of `mapped` (0: unknown).
  Number retained(std::uint64_t value, Number mapped);
  Number of(std::uint64_t value);  // numbers a value that was never seen to be made
  void released(std::uint64_t value, Number last);
  Number last() const { return last_; }

 private:
  struct Entry {
    Number number = 0;
    int references = 0;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;
  Number last_ = 0;
};

// A numbered piece of the address space.
struct Piece {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  Number number = 0;
  Number handle = 0;  // of a mapping
};

// Numbers pieces of the address space of one sort (reservations, mappings, device allocations,
// pinned host blocks). Pieces of one sort never overlap.
class Pieces {
 public:
  Number add(std::uint64_t base, std::uint64_t bytes, Number handle = 0);
  const Piece* find(std::uint64_t address) const;  // the piece that holds the address, or null
  std::vector<Piece> inside(std::uint64_t base, std::uint64_t bytes) const;
  // Forgets the pieces that begin in the range and were numbered no later than `last`.
  void remove(std::uint64_t base, std::uint64_t bytes, Number last);
  Number last() const { return last_; }

 private:
  std::map<std::uint64_t, Piece> pieces_;  // by base
  Number last_ = 0;
};

// Everything that the recorder numbers on this rank. Not thread safe.
struct Numbering {
  Handles handles;
  Pieces ranges;    // cuMemAddressReserve
  Pieces mappings;  // cuMemMap
  Pieces allocs;    // cuMemAlloc and its kin
  Pieces pinned;    // pinned and registered host memory
  Numbers streams;
  Numbers events;
};

}  // namespace symmcts::recorder

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/platform/model/units.hpp"

// What a process tells about its device work, so that races can be found: one record an operation
// that is done, and one for each thing that the host saw or said. Records of a process come in the
// order in which they happened there.
namespace symmcts::platform {

// A moment in both clocks: virtual ones cannot be compared where not all host traffic is seen.
struct Moment {
  Ns at = 0;    // virtual
  Ns wall = 0;  // of the host's monotonic clock
};

// Bytes that an operation read or wrote, in physical memory: a multicast write has one a replica.
struct RaceAccess {
  std::uint64_t allocation = 0;  // 0: host memory of the process, `offset` is its address
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint8_t write = 0;
};

// An operation of a stream that is done.
struct RaceOp {
  enum class Kind : std::uint8_t {
    plain,          // a copy or fill, or nothing but an edge
    short_copy,     // a copy or fill of a few bytes: it may be a flag that somebody waits for
    word_write,     // a stream memory operation
    word_wait,      // likewise; ordered behind the write that satisfied it
    host_function,  // of the stream
  };
  std::uint64_t id = 0;  // unique in its process, counting up in each stream
  std::uint32_t stream = 0;
  Kind kind = Kind::plain;
  std::uint64_t seen = 0;  // records of the host, before its submission
  Moment submitted, ended;
  std::uint32_t correlation = 0;
  std::string call;
  std::vector<std::uint64_t> after;  // operations of the process that it was ordered behind
  std::vector<RaceAccess> accesses;
};

// Something of the host's side.
struct RaceHost {
  enum class Kind : std::uint8_t {
    joined,   // the host has seen that operations are done: `ids`
    sent,     // a message to rank `to` leaves, with the stamp in `ids`
    heard,    // messages were taken in: their stamps in `ids`
    ended,    // a stream was destroyed: `ids`
    stopped,  // nothing more will come: the process ends in order
  };
  Kind kind{};
  Moment at;
  std::int32_t to = -1;
  // Operations that are not done yet were submitted after so many records of the host, at least.
  std::uint64_t oldest = 0;
  std::vector<std::uint64_t> ids;
};

// The stamp that travels with a message of the exchange: the sender's host clock, and which rank it
// is, as far as 16 bits can tell. Clocks end at three days.
inline constexpr int kStampBits = 48;
constexpr std::uint64_t message_stamp(int rank, Ns now) {
  constexpr Ns kMost = (Ns{1} << kStampBits) - 1;
  return (static_cast<std::uint64_t>(rank + 1) << kStampBits) | (now < kMost ? now : kMost);
}
constexpr Ns clock_of_stamp(std::uint64_t stamp) {
  return stamp & ((std::uint64_t{1} << kStampBits) - 1);
}

}  // namespace symmcts::platform

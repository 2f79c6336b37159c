#pragma once

#include <cstdint>
#include <string>

#include "harness/platform/model/units.hpp"

// The words that the machine model, the broker's protocol and its clients share.
namespace symmcts::platform {

// A broker-side object that a handle refers to.
enum class ObjectKind : std::uint8_t { memory, multicast };

struct HandleInfo {
  std::uint64_t handle = 0;  // broker-wide handle id (not the number the application sees)
  std::uint64_t object = 0;  // allocation or multicast object id
  ObjectKind kind = ObjectKind::memory;
  bool native = true;              // false: came from an import
  std::uint64_t size = 0;          // allocation size; effective size of a multicast object
  int gpu = -1;                    // machine-wide index; -1 for host memory and multicast
  std::uint32_t handle_types = 0;  // as requested at creation; 0 for an imported handle (measured)
};

// One bound range of a multicast object.
struct Replica {
  int gpu = -1;
  std::uint64_t mc_offset = 0;
  std::uint64_t allocation = 0;
  std::uint64_t mem_offset = 0;
  std::uint64_t size = 0;
};

// Conditions of a wait on a memory word, with the numbers of cuda.h:CUstreamWaitValue_flags.
enum class WordTest : std::uint8_t { geq = 0, eq = 1, bit_and = 2, nor = 3 };

struct WordWait {
  std::uint64_t id = 0;  // chosen by the client, unique in it
  std::uint64_t allocation = 0;
  std::uint64_t offset = 0;
  std::uint8_t width = 4;  // 4 or 8 bytes
  WordTest test = WordTest::geq;
  std::uint64_t value = 0;
  Ns ready = 0;  // when the stream reached the wait
};

// What the broker tells a client that has not asked.
struct Notice {
  enum class Kind {
    word_done,   // id, at: the wait is satisfied at that time
    granted,     // at: no event anywhere is earlier, device work up to `at` may run
    deadline,    // at: the exchange deadline of the last stuck report has passed
    look_again,  // somebody has left: what the host waits for in the exchange may have come to an
                 // end
    deadlock,    // text: no rank of the machine can ever move again
    broker_gone,
  };
  Kind kind{};
  std::uint64_t id = 0;
  Ns at = 0;
  std::string text;
};

// A deadline of so long is a last resort (symmcts_platform.h).
inline constexpr Ns kLastResort = 3'600'000'000'000;

// Where a blocked rank stands, for the broker's count of who can still move.
struct Stuck {
  Ns next_event = kNever;  // earliest device event that is not certain yet
  Ns deadline = kNever;    // absolute virtual time of an exchange deadline
  std::string where;       // "exchange", "cuStreamSynchronize", ...: for deadlock reports
  // The host is about to make, or waits in, a call of this client that may block (map, bind,
  // before). Such a report counts only while that request is pending in the broker: the report and
  // the request travel separately, and a call that returns at once never was a reason to move the
  // machine.
  bool in_call = false;
  bool in_exchange = false;  // the host waits for a message, or for the end of who would send it
  std::string calls{};       // the last driver calls of the process, likewise for reports
  // The deadline is one for waits that only somebody outside could end: it passes
  // only on a machine on which the scenario has stopped a rank. Else the standstill is reported,
  // which tells more.
  bool last_resort = false;
};

}  // namespace symmcts::platform

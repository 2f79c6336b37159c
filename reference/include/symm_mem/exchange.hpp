#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace symm_mem {

using Bytes = std::vector<std::byte>;

// How an exchange call ended. A rank that died shows as closed, one that did not answer in time as
// timed_out; `rank` names it.
struct ExchangeResult {
  enum class End { ok, timed_out, closed, failed };
  End end = End::ok;
  int rank = -1;
  std::string text;
  explicit operator bool() const { return end == End::ok; }
};

// Sees each message leave and each wait begin and end, and lets a tool carry eight bytes of its own
// with every message. Optional; an exchange without an observer sends zeros. A message that comes
// before anybody asks for it is taken in with the value 0, and leaves again, to be taken in with
// its own value, when it is asked for: so what the observer learns, and when, does not depend on
// which message happened to arrive first.
class ExchangeObserver {
 public:
  virtual ~ExchangeObserver() = default;
  // Before a message to rank `to` leaves; the value travels with it.
  virtual std::uint64_t leaving(int to) = 0;
  // Before blocking. Returns a descriptor that becomes readable when the deadline has passed by the
  // observer's clock, or -1: then the wall clock decides.
  virtual int wait_begins(std::chrono::nanoseconds deadline) = 0;
  // After blocking, with the values of the messages taken in during this wait. Returns true if the
  // deadline has passed by the observer's clock.
  virtual bool wait_ends(std::span<const std::uint64_t> values) = 0;
};

// Point-to-point messages among the ranks of one job, and descriptors among the ranks of one host.
// Messages from one rank with one tag arrive in order. Not thread safe.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual void set_observer(ExchangeObserver* observer) = 0;  // not owned; null to remove

  // Queues `message`; never waits for the receiver.
  virtual ExchangeResult send(int to, std::uint64_t tag, std::span<const std::byte> message) = 0;
  // Blocks until a message of that rank and tag is there, at most `deadline`.
  virtual ExchangeResult receive(int from, std::uint64_t tag, Bytes& message,
                                 std::chrono::nanoseconds deadline) = 0;
  // The same for a file descriptor (SM-XCHG-1: SCM_RIGHTS, needs no ptrace rights, pytorch#129412).
  // The sender keeps its own copy; the receiver owns what it gets.
  virtual ExchangeResult send_descriptor(int to, std::uint64_t tag, int descriptor) = 0;
  virtual ExchangeResult receive_descriptor(int from, std::uint64_t tag, int& descriptor,
                                            std::chrono::nanoseconds deadline) = 0;
};

}  // namespace symm_mem

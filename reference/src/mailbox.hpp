#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "symm_mem/descriptor.hpp"
#include "symm_mem/exchange.hpp"

namespace symm_mem {

// What one rank sent to another.
struct Letter {
  enum class Kind : std::uint8_t { message, descriptor };
  int source = -1;
  std::uint64_t tag = 0;
  Kind kind = Kind::message;
  std::uint64_t value = 0;  // the observer's, of the sender
  Bytes bytes;
  Descriptor descriptor;
};

// Brings letters from other processes.
class Carrier {
 public:
  virtual ~Carrier() = default;
  // Blocks until letters have arrived, `watched` is readable (-1: none), `limit` of wall time has
  // passed, or `from` can never send again: then that is the result, after everything it sent. An
  // end of `timed_out` means only that this turn is over.
  virtual ExchangeResult turn(int from, int watched, std::chrono::nanoseconds limit,
                              std::vector<Letter>& arrived) = 0;
};

// Letters that have arrived and that nobody has asked for yet, and the one way to wait for one.
class Mailbox {
 public:
  explicit Mailbox(int rank) : rank_(rank) {}

  // Takes in a letter that this rank sent to itself.
  void post(Letter letter, ExchangeObserver* observer);

  // As Exchange::receive. The observer's values join at the letter that is asked for, whenever it
  // arrived: one that comes early is counted with the value 0, and leaves again, to arrive with its
  // own value, when it is asked for. So the observer's clock does not depend on arrival times.
  ExchangeResult receive(Carrier& carrier, ExchangeObserver* observer, int from, std::uint64_t tag,
                         Letter::Kind kind, std::chrono::nanoseconds deadline, Letter& letter);

 private:
  bool take(int from, std::uint64_t tag, Letter::Kind kind, Letter& letter);

  int rank_;
  std::list<Letter> letters_;
};

}  // namespace symm_mem

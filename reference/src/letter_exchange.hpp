#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "mailbox.hpp"
#include "symm_mem/exchange.hpp"

namespace symm_mem {

// An Exchange in terms of letters: what all exchanges have in common. A new one says how a letter
// is carried.
class LetterExchange : public Exchange {
 public:
  int rank() const final { return rank_; }
  int size() const final { return size_; }
  void set_observer(ExchangeObserver* observer) final { observer_ = observer; }

  ExchangeResult send(int to, std::uint64_t tag, std::span<const std::byte> message) final;
  ExchangeResult receive(int from, std::uint64_t tag, Bytes& message,
                         std::chrono::nanoseconds deadline) final;
  ExchangeResult send_descriptor(int to, std::uint64_t tag, int descriptor) final;
  ExchangeResult receive_descriptor(int from, std::uint64_t tag, int& descriptor,
                                    std::chrono::nanoseconds deadline) final;

 protected:
  LetterExchange(int rank, int size) : rank_(rank), size_(size), mailbox_(rank) {}

 private:
  virtual Carrier& carrier() = 0;
  // Whether `to`, another rank, can be sent such a letter; may wait until it exists.
  virtual ExchangeResult reach(int to, Letter::Kind kind) = 0;
  // Takes the letter on its way without waiting for the receiver.
  virtual ExchangeResult carry(int to, Letter letter) = 0;

  ExchangeResult send_letter(int to, Letter letter);
  ExchangeResult receive_letter(int from, std::uint64_t tag, Letter::Kind kind,
                                std::chrono::nanoseconds deadline, Letter& letter);

  int rank_;
  int size_;
  Mailbox mailbox_;
  ExchangeObserver* observer_ = nullptr;
};

}  // namespace symm_mem

#include "letter_exchange.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace symm_mem {

ExchangeResult LetterExchange::send(int to, std::uint64_t tag, std::span<const std::byte> message) {
  Letter letter;
  letter.tag = tag;
  letter.bytes.assign(message.begin(), message.end());
  return send_letter(to, std::move(letter));
}

ExchangeResult LetterExchange::send_descriptor(int to, std::uint64_t tag, int descriptor) {
  Letter letter;
  letter.tag = tag;
  letter.kind = Letter::Kind::descriptor;
  letter.descriptor = Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!letter.descriptor.open()) {
    return {ExchangeResult::End::failed, rank_,
            "descriptor " + std::to_string(descriptor) + ": " + std::strerror(errno)};
  }
  return send_letter(to, std::move(letter));
}

ExchangeResult LetterExchange::receive(int from, std::uint64_t tag, Bytes& message,
                                       std::chrono::nanoseconds deadline) {
  Letter letter;
  ExchangeResult result = receive_letter(from, tag, Letter::Kind::message, deadline, letter);
  if (result) message = std::move(letter.bytes);
  return result;
}

ExchangeResult LetterExchange::receive_descriptor(int from, std::uint64_t tag, int& descriptor,
                                                  std::chrono::nanoseconds deadline) {
  Letter letter;
  ExchangeResult result = receive_letter(from, tag, Letter::Kind::descriptor, deadline, letter);
  if (result) descriptor = letter.descriptor.release();
  return result;
}

ExchangeResult LetterExchange::send_letter(int to, Letter letter) {
  if (to < 0 || to >= size_) return {ExchangeResult::End::failed, to, "no such rank"};
  letter.source = rank_;
  if (to != rank_) {
    ExchangeResult reached = reach(to, letter.kind);
    if (!reached) return reached;
  }
  letter.value = observer_ != nullptr ? observer_->leaving(to) : 0;
  if (to != rank_) return carry(to, std::move(letter));
  mailbox_.post(std::move(letter), observer_);
  return {};
}

ExchangeResult LetterExchange::receive_letter(int from, std::uint64_t tag, Letter::Kind kind,
                                              std::chrono::nanoseconds deadline, Letter& letter) {
  if (from < 0 || from >= size_) return {ExchangeResult::End::failed, from, "no such rank"};
  return mailbox_.receive(carrier(), observer_, from, tag, kind, deadline, letter);
}

}  // namespace symm_mem

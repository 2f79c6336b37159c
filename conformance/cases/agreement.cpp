#include "conformance/cases/agreement.hpp"

#include <cstring>
#include <span>

namespace symmcts::cases {
namespace {

// Keeps our messages apart from those of an implementation on the same exchange.
constexpr std::uint64_t kTag = std::uint64_t{0xCA5E} << 48;

const char* end_name(symm_mem::ExchangeResult::End end) {
  switch (end) {
    case symm_mem::ExchangeResult::End::timed_out:
      return "did not answer in time";
    case symm_mem::ExchangeResult::End::closed:
      return "is gone";
    default:
      return "cannot be reached";
  }
}

}  // namespace

Agreement::Agreement(symm_mem::Exchange& exchange, std::chrono::nanoseconds deadline)
    : exchange_(exchange), deadline_(deadline) {}

bool Agreement::note(const symm_mem::ExchangeResult& result, int rank) {
  if (result) return true;
  if (broken_.empty()) {
    lost_ = rank;
    broken_ = "rank " + std::to_string(rank) + " " + end_name(result.end);
    if (!result.text.empty()) broken_ += ": " + result.text;
  }
  return false;
}

std::optional<std::vector<std::string>> Agreement::gather(const std::string& mine) {
  if (!broken_.empty()) return std::nullopt;
  const std::uint64_t tag = kTag | sequence_++;
  const std::span<const std::byte> message = std::as_bytes(std::span(mine.data(), mine.size()));
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    if (!note(exchange_.send(other, tag, message), other)) return std::nullopt;
  }
  std::vector<std::string> texts(static_cast<std::size_t>(size()));
  texts[static_cast<std::size_t>(rank())] = mine;
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    symm_mem::Bytes bytes;
    if (!note(exchange_.receive(other, tag, bytes, deadline_), other)) return std::nullopt;
    std::string& text = texts[static_cast<std::size_t>(other)];
    text.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
  }
  return texts;
}

}  // namespace symmcts::cases

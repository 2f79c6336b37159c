#include "conformance/cases/agreement.hpp"

#include <charconv>
#include <span>
#include <string_view>

namespace symmcts::cases {
namespace {

// Keeps our messages apart from those of an implementation on the same exchange.
constexpr std::uint64_t kTag = std::uint64_t{0xCA5E} << 48;

// The rank through which everything goes: 2 (n - 1) messages, not n (n - 1).
constexpr int kTeller = 0;

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

// Texts in a row, each with its length and a colon in front: the first says what is broken, the
// second which rank broke it.
std::string pack(const std::string& broken, int lost, const std::vector<std::string>& texts) {
  const auto one = [](const std::string& text) { return std::to_string(text.size()) + ":" + text; };
  std::string out = one(broken) + one(std::to_string(lost));
  for (const std::string& text : texts) out += one(text);
  return out;
}

std::vector<std::string> unpack(std::string_view packed, std::string& broken, int& lost) {
  std::vector<std::string> texts;
  while (!packed.empty()) {
    std::size_t length = 0;
    const auto [colon, error] =
        std::from_chars(packed.data(), packed.data() + packed.size(), length);
    packed.remove_prefix(static_cast<std::size_t>(colon - packed.data()) + 1);
    texts.emplace_back(packed.substr(0, length));
    packed.remove_prefix(length);
  }
  broken = std::move(texts[0]);
  std::from_chars(texts[1].data(), texts[1].data() + texts[1].size(), lost);
  texts.erase(texts.begin(), texts.begin() + 2);
  return texts;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const symm_mem::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
  return rank() == kTeller ? collect(tag, mine) : ask(tag, mine);
}

// Hears everyone, then tells everyone, also when somebody is missing.
std::optional<std::vector<std::string>> Agreement::collect(std::uint64_t tag,
                                                           const std::string& mine) {
  std::vector<std::string> texts(static_cast<std::size_t>(size()));
  texts[kTeller] = mine;
  for (int other = 0; other < size() && broken_.empty(); ++other) {
    if (other == kTeller) continue;
    symm_mem::Bytes bytes;
    if (!note(exchange_.receive(other, tag, bytes, deadline_), other)) break;
    texts[static_cast<std::size_t>(other)] = text_of(bytes);
  }
  const std::string answer =
      pack(broken_, lost_, broken_.empty() ? texts : std::vector<std::string>());
  for (int other = 0; other < size(); ++other) {
    if (other != kTeller) (void)note(exchange_.send(other, tag, bytes_of(answer)), other);
  }
  if (!broken_.empty()) return std::nullopt;
  return texts;
}

std::optional<std::vector<std::string>> Agreement::ask(std::uint64_t tag, const std::string& mine) {
  // A teller that has given up already may have left its answer.
  const symm_mem::ExchangeResult sent = exchange_.send(kTeller, tag, bytes_of(mine));
  symm_mem::Bytes bytes;
  // Twice the teller's own deadline: it gives up first and says who is missing.
  const symm_mem::ExchangeResult heard = exchange_.receive(kTeller, tag, bytes, 2 * deadline_);
  if (!note(heard || sent ? heard : sent, kTeller)) return std::nullopt;
  std::vector<std::string> texts = unpack(text_of(bytes), broken_, lost_);
  if (!broken_.empty()) return std::nullopt;
  return texts;
}

}  // namespace symmcts::cases

#include "harness/platform/model/word_log.hpp"

#include <algorithm>
#include <tuple>

namespace symmcts::platform {
namespace {

constexpr std::uint64_t kCell = 4;
// Entries of one cell before the older half is folded into its base. A wait that is ready before
// all of them would have to lie so many writes of its own word behind.
constexpr std::size_t kMostEntries = 4096;

std::uint32_t value_at(std::uint32_t base, const auto& entries, Ns at) {
  std::uint32_t value = base;
  for (const auto& entry : entries) {
    if (entry.at > at) break;
    value = entry.value;
  }
  return value;
}

// cuda.h:CUstreamWaitValue_flags; GEQ is cyclic.
bool passes(const WordWait& wait, std::uint64_t word) {
  const std::uint64_t mask = wait.width == 8 ? ~std::uint64_t{0} : 0xffffffffU;
  const std::uint64_t value = wait.value & mask;
  switch (wait.test) {
    case WordTest::geq:
      return wait.width == 8 ? static_cast<std::int64_t>(word - value) >= 0
                             : static_cast<std::int32_t>(static_cast<std::uint32_t>(word) -
                                                         static_cast<std::uint32_t>(value)) >= 0;
    case WordTest::eq:
      return word == value;
    case WordTest::bit_and:
      return (word & value) != 0;
    case WordTest::nor:
      return (~(word | value) & mask) != 0;
  }
  return false;
}

}  // namespace

void WordLog::open(std::uint64_t allocation, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t end = offset + size;
  for (std::uint64_t at = offset - offset % kCell; at < end; at += kCell) cell(allocation, at);
}

std::vector<WordLog::Done> WordLog::write(std::uint64_t allocation, std::uint64_t offset,
                                          std::uint8_t width, std::uint64_t value, ClientId writer,
                                          Ns at) {
  for (std::uint64_t part = 0; part < width; part += kCell) {
    const auto half = static_cast<std::uint32_t>(value >> (8 * part));
    log(cell(allocation, offset + part), {at + visible_ns_, rank_of(writer), half});
  }
  return answer(allocation, offset, width);
}

std::optional<Ns> WordLog::wait(ClientId client, const WordWait& wait) {
  if (const auto at = evaluate(wait)) return at;
  pending_.push_back({client, wait});
  return std::nullopt;
}

bool WordLog::has_open_words(std::uint64_t allocation) const {
  const auto it = cells_.lower_bound({allocation, 0});
  return it != cells_.end() && it->first.first == allocation;
}

void WordLog::forget_client(ClientId client) {
  std::erase_if(pending_, [&](const Pending& waiting) { return waiting.client == client; });
}

void WordLog::forget_allocation(std::uint64_t allocation) {
  cells_.erase(cells_.lower_bound({allocation, 0}), cells_.upper_bound({allocation, ~0ULL}));
}

WordLog::Cell& WordLog::cell(std::uint64_t allocation, std::uint64_t offset) {
  const auto [it, fresh] = cells_.try_emplace({allocation, offset});
  if (fresh) it->second.base = read_(allocation, offset);
  return it->second;
}

void WordLog::log(Cell& cell, const Entry& entry) {
  auto& entries = cell.entries;
  const auto before = [](const Entry& a, const Entry& b) {
    return std::tie(a.at, a.rank) < std::tie(b.at, b.rank);
  };
  entries.insert(std::upper_bound(entries.begin(), entries.end(), entry, before), entry);
  if (entries.size() <= kMostEntries) return;
  const auto keep = entries.begin() + kMostEntries / 2;
  cell.base = std::prev(keep)->value;
  entries.erase(entries.begin(), keep);
}

std::optional<Ns> WordLog::evaluate(const WordWait& wait) {
  const Cell& low = cell(wait.allocation, wait.offset);
  const Cell* high = wait.width == 8 ? &cell(wait.allocation, wait.offset + kCell) : nullptr;
  const auto word_at = [&](Ns at) {
    std::uint64_t word = value_at(low.base, low.entries, at);
    if (high != nullptr) {
      word |= std::uint64_t{value_at(high->base, high->entries, at)} << 32;
    }
    return word;
  };
  if (passes(wait, word_at(wait.ready))) return wait.ready;
  std::vector<Ns> changes;
  for (const Cell* part : {&low, high}) {
    if (part == nullptr) continue;
    for (const Entry& entry : part->entries) {
      if (entry.at > wait.ready) changes.push_back(entry.at);
    }
  }
  std::sort(changes.begin(), changes.end());
  for (const Ns at : changes) {
    if (passes(wait, word_at(at))) return at;
  }
  return std::nullopt;
}

std::vector<WordLog::Done> WordLog::answer(std::uint64_t allocation, std::uint64_t offset,
                                           std::uint64_t size) {
  std::vector<Done> done;
  std::erase_if(pending_, [&](const Pending& waiting) {
    const WordWait& wait = waiting.wait;
    if (wait.allocation != allocation || wait.offset >= offset + size ||
        offset >= wait.offset + wait.width) {
      return false;
    }
    const auto at = evaluate(wait);
    if (at) done.push_back({waiting.client, wait.id, *at});
    return at.has_value();
  });
  return done;
}

}  // namespace symmcts::platform

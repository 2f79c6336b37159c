#include "harness/recorder/numbering.hpp"

namespace symmcts::recorder {

Number Numbers::of(std::uint64_t value) {
  const auto found = numbers_.find(value);
  return found != numbers_.end() ? found->second : fresh(value);
}

Number Numbers::fresh(std::uint64_t value) {
  numbers_[value] = ++last_;
  return last_;
}

void Numbers::forget(std::uint64_t value, Number last) {
  const auto found = numbers_.find(value);
  if (found != numbers_.end() && found->second <= last) numbers_.erase(found);
}

Number Handles::created(std::uint64_t value) {
  entries_[value] = Entry{++last_, 1};
  return last_;
}

Number Handles::imported(std::uint64_t value) {
  const auto found = entries_.find(value);
  if (found == entries_.end()) return created(value);
  ++found->second.references;
  return found->second.number;
}

Number Handles::retained(std::uint64_t value, Number mapped) {
  const auto found = entries_.find(value);
  if (found != entries_.end()) {
    ++found->second.references;
    return found->second.number;
  }
  if (mapped == 0) return created(value);
  entries_[value] = Entry{mapped, 1};
  return mapped;
}

Number Handles::of(std::uint64_t value) {
  const auto found = entries_.find(value);
  return found != entries_.end() ? found->second.number : created(value);
}

void Handles::released(std::uint64_t value, Number last) {
  const auto found = entries_.find(value);
  if (found == entries_.end() || found->second.number > last) return;
  if (--found->second.references <= 0) entries_.erase(found);
}

Number Pieces::add(std::uint64_t base, std::uint64_t bytes, Number handle) {
  pieces_[base] = Piece{base, bytes, ++last_, handle};
  return last_;
}

const Piece* Pieces::find(std::uint64_t address) const {
  auto next = pieces_.upper_bound(address);
  if (next == pieces_.begin()) return nullptr;
  const Piece& piece = (--next)->second;
  return address - piece.base < piece.bytes ? &piece : nullptr;
}

std::vector<Piece> Pieces::inside(std::uint64_t base, std::uint64_t bytes) const {
  std::vector<Piece> found;
  for (auto at = pieces_.lower_bound(base); at != pieces_.end() && at->first - base < bytes; ++at) {
    found.push_back(at->second);
  }
  return found;
}

void Pieces::remove(std::uint64_t base, std::uint64_t bytes, Number last) {
  for (const Piece& piece : inside(base, bytes)) {
    if (piece.number <= last) pieces_.erase(piece.base);
  }
}

}  // namespace symmcts::recorder

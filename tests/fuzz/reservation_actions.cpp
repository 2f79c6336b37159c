// Address ranges: A1, and the measured table.
#include <tuple>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 24;

void reserve(Session& s) {
  World& w = s.world;
  if (w.reservations.size() >= kMost) return;
  std::size_t size = kBlock * (1 + s.draw.below(5)), alignment = 0, hint = 0;
  unsigned long long flags = 0;
  CUdeviceptr at = 0, *out = &at;
  Expect expected = Expect::success();
  switch (s.draw.below(16)) {
    case 0:
      size = s.draw.of<std::size_t>({0, 1, 4096, size + 4096});
      expected = Expect::invalid();
      break;
    case 1:
      alignment = s.draw.of<std::size_t>({3, kBlock + 1, 6});
      expected = Expect::invalid();
      break;
    case 2:
      flags = 1;
      expected = Expect::invalid();
      break;
    case 3:
      out = nullptr;
      expected = Expect::invalid();
      break;
    case 4:
      size = s.draw.of<std::size_t>({std::size_t{1} << 60, ~(kBlock - 1)});
      expected = Expect::failure();
      break;
    case 5:
      hint = 1;
      expected = Expect::invalid();
      break;
    case 6:
      hint = ~(kBlock - 1);
      break;
    case 7:
    case 8:
      if (!w.reservations.empty()) hint = s.draw.from(w.reservations).first;
      break;
    case 9:
      if (!w.reservations.empty()) hint = s.draw.from(w.reservations).first + kBlock * 8;
      break;
    default:
      alignment = s.draw.of<std::size_t>({0, 0, 4096, kBlock, 4 * kBlock, 256 * kBlock});
      break;
  }
  const std::string what =
      "reserve " + std::to_string(size) + " aligned " + std::to_string(alignment);
  if (!s.call(what, expected,
              [&] { return s.cu.cuMemAddressReserve(out, size, alignment, hint, flags); }))
    return;
  s.check(at != 0 && at % kBlock == 0 && (alignment == 0 || at % alignment == 0),
          what + ": not aligned");
  for (const auto& [start, length] : w.reservations) {
    s.check(at + size <= start || start + length <= at, what + ": overlaps another range");
  }
  w.reservations[at] = size;
}

void free_range(Session& s) {
  World& w = s.world;
  if (w.reservations.empty()) return;
  CUdeviceptr at = 0;
  std::size_t size = 0;
  std::tie(at, size) = s.draw.from(w.reservations);
  const bool mapped = w.mapped_in(at, size);
  Expect expected = mapped ? Expect::invalid() : Expect::success();
  const CUdeviceptr start = at;
  switch (s.draw.below(12)) {
    case 0:
      size /= 2;
      expected = Expect::invalid();
      break;
    case 1:
      size += kBlock;
      expected = Expect::invalid();
      break;
    case 2:
      at += kBlock;
      expected = Expect::invalid();
      break;
    case 3:
      at = 0;
      expected = Expect::invalid();
      break;
    case 4:
      size = s.draw.of<std::size_t>({0, ~std::size_t{0}});
      expected = Expect::invalid();
      break;
    default:
      if (mapped && !s.draw.once_in(4)) return;
  }
  // A range that begins inside another one is that one's only where both agree.
  if (at != start && w.reservations.count(at) != 0) return;
  if (s.call("free range", expected, [&] { return s.cu.cuMemAddressFree(at, size); })) {
    w.reservations.erase(start);
  }
}

}  // namespace

std::vector<Choice> reservation_actions() { return {{reserve, 8}, {free_range, 6}}; }

}  // namespace symmcts::fuzz

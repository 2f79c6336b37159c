#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace symmcts::fuzz {

// Numbers from a seed, the same with every compiler and library: splitmix64 (public domain,
// S. Vigna). A remainder is uniform enough for what is drawn here.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // From 0 to `end` - 1. Precondition: `end` is not 0.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }
  // True once in `n` times.
  bool once_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  T of(std::initializer_list<T> choices) {
    return *std::next(choices.begin(), static_cast<std::ptrdiff_t>(below(choices.size())));
  }
  // An element of a container that is not empty.
  template <typename Container>
  auto& from(Container& container) {
    return *std::next(container.begin(), static_cast<std::ptrdiff_t>(below(container.size())));
  }
  // A seed for something that must not depend on how much is drawn elsewhere.
  static std::uint64_t derive(std::uint64_t seed, std::uint64_t what) {
    return Draw(seed ^ (what * 0xd1342543de82ef95U + 0x632be59bd9b4e019U)).next();
  }

 private:
  std::uint64_t state_;
};

}  // namespace symmcts::fuzz

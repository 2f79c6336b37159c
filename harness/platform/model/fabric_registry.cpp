#include "harness/platform/model/fabric_registry.hpp"

namespace symmcts::platform {
namespace {

// splitmix64: spreads (seed, object) over the token, so that no two machines or objects share one.
std::uint64_t next_word(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

FabricToken FabricRegistry::issue(std::uint64_t object, int creator) {
  std::uint64_t state = seed_;
  state = next_word(state) ^ object;
  FabricToken token{};
  for (std::size_t at = 0; at < token.size(); at += sizeof state) {
    const std::uint64_t word = next_word(state);
    for (std::size_t i = 0; i < sizeof word; ++i) {
      token[at + i] = static_cast<std::uint8_t>(word >> (8 * i));
    }
  }
  issued_[token] = {object, creator};
  return token;
}

std::optional<FabricRegistry::Entry> FabricRegistry::find(const FabricToken& token) const {
  const auto it = issued_.find(token);
  if (it == issued_.end()) return std::nullopt;
  return it->second;
}

}  // namespace symmcts::platform

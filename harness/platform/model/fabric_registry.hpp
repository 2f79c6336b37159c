#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "harness/platform/model/objects.hpp"

namespace symmcts::platform {

using FabricToken = std::array<std::uint8_t, 64>;

// What an IMEX-like service knows of the machine's FABRIC handles. A token is data: nobody can
// close it, so it holds no reference (facts A4.3), and it stays known after its object has gone.
class FabricRegistry {
 public:
  explicit FabricRegistry(std::uint64_t seed) : seed_(seed) {}

  struct Entry {
    std::uint64_t object = 0;
    int creator = 0;  // rank
  };
  // The token of an object: the same at every export, and in every run with one seed.
  FabricToken issue(std::uint64_t object, int creator);
  // Nothing for bytes that this machine never issued.
  std::optional<Entry> find(const FabricToken& token) const;

 private:
  std::uint64_t seed_;
  std::map<FabricToken, Entry> issued_;
};

}  // namespace symmcts::platform

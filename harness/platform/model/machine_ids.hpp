#pragma once

#include <cstdint>

#include "harness/platform/model/objects.hpp"

// Names of clients and objects. They are built from ranks and from counts that each rank's own
// calls advance, so that two ranks that race each other get the same names in every run.
namespace symmcts::platform {

// One attached process: how many clients of the rank came before it, and the rank.
using ClientId = std::uint32_t;

inline constexpr int kRankBits = 20;
inline constexpr int kMaxRank = (1 << kRankBits) - 1;
inline constexpr int kMaxIncarnations = 1 << 11;

constexpr ClientId client_id(int incarnation, int rank) {
  return (static_cast<ClientId>(incarnation) << kRankBits) | static_cast<ClientId>(rank);
}
constexpr int rank_of(ClientId client) { return static_cast<int>(client & kMaxRank); }

// Ids of handles, mappings, objects and descriptors: the kind of object on top, so that it can be
// told from a handle that has been released; then the client whose call made it; then its count.
constexpr std::uint64_t machine_id(ObjectKind kind, ClientId client, std::uint32_t count) {
  return (std::uint64_t{kind == ObjectKind::multicast} << 63) | (std::uint64_t{client} << 32) |
         count;
}
constexpr ObjectKind kind_of(std::uint64_t id) {
  return (id >> 63) != 0 ? ObjectKind::multicast : ObjectKind::memory;
}

}  // namespace symmcts::platform

#include "harness/launch/placement.hpp"

#include <sstream>

namespace symmcts::launch {

Result<std::vector<Seat>> place_ranks(const PlacementOptions& options) {
  const int room = options.hosts * options.gpus_per_host;
  if (options.ranks < 1) {
    return Error{"--ranks " + std::to_string(options.ranks) + ": must be at least 1"};
  }
  if (options.ranks > room) {
    return Error{"--ranks " + std::to_string(options.ranks) + ": the platform has only " +
                 std::to_string(room) + (room == 1 ? " GPU" : " GPUs")};
  }
  if (options.root_ordinal < 0 || options.root_ordinal >= options.gpus_per_host) {
    return Error{"--root-ordinal " + std::to_string(options.root_ordinal) +
                 ": a host of the platform has only ordinals 0 to " +
                 std::to_string(options.gpus_per_host - 1)};
  }
  std::vector<std::string> names;
  std::istringstream list(options.visible);
  for (std::string name; std::getline(list, name, ',');) names.push_back(name);

  std::vector<Seat> seats;
  for (int rank = 0; rank < options.ranks; ++rank) {
    Seat seat{rank,
              rank / options.gpus_per_host,
              (rank % options.gpus_per_host + options.root_ordinal) % options.gpus_per_host,
              {}};
    if (options.one_visible_gpu) {
      const auto gpu = static_cast<std::size_t>(seat.gpu);
      seat.visible = gpu < names.size() ? names[gpu] : std::to_string(seat.gpu);
    }
    seats.push_back(std::move(seat));
  }
  return seats;
}

}  // namespace symmcts::launch

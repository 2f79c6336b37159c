#pragma once

#include <string>
#include <vector>

#include "harness/support/result.hpp"

namespace symmcts::launch {

// Where a rank sits.
struct Seat {
  int rank = 0;
  int host = 0;         // virtual host
  int gpu = 0;          // index on its host
  std::string visible;  // CUDA_VISIBLE_DEVICES of the rank; empty: left as it is
};

struct PlacementOptions {
  int ranks = 0;
  int hosts = 1;
  int gpus_per_host = 1;
  int root_ordinal = 0;          // GPU of the first rank of each host; the others follow, around
  bool one_visible_gpu = false;  // each rank sees its own GPU only, as ordinal 0
  std::string visible;           // the user's CUDA_VISIBLE_DEVICES, or empty
};

// Gives each rank a GPU of its own: ranks fill one host after the other. Fails, with one line for
// the user, where the machine has no room for that.
Result<std::vector<Seat>> place_ranks(const PlacementOptions& options);

}  // namespace symmcts::launch

#pragma once

#include <string>
#include <vector>

namespace symmcts::cases {

// Groups as in the job of torchcomms#3498: every `domain` ranks in a row are dealt out in turn, so
// that with domain 64 and size 8 group g of domain d is {64d + g, 64d + g + 8, ..., 64d + g + 56}.
struct Deal {
  int domain = 0;  // 0: all ranks
  int size = 0;    // 0: half of a domain
};

// The ranks of the group of `rank` in a job of `ranks`, ascending: the first is its root.
std::vector<int> members_of(const Deal& deal, int ranks, int rank);
// Why the ranks cannot be dealt out like that, or "".
std::string obstacle_to(const Deal& deal, int ranks);

}  // namespace symmcts::cases

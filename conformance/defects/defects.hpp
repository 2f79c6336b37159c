#pragma once

#include <cuda.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "symm_mem/block.hpp"
#include "symm_mem/multicast.hpp"

namespace symmcts::defects {

// Another all-gather by multicast for the group rank `member`, in the place of Block::all_gather.
using AllGather = symm_mem::Status (*)(symm_mem::Block& block, CUdeviceptr source,
                                       std::size_t bytes_per_rank, int member, CUstream stream);

// A known-bad implementation: the reference with one public bug put back, as another order of the
// reference's own steps, or another use of its operations. Like the reference, a defect creates a
// multicast object only when the group's terms contain every rank's permit.
struct Defect {
  std::string_view name;  // "root-keeps-native"
  std::string_view summary;
  std::string_view caught_by;  // the requirement that must fail
  std::string_view source;     // the public bug
  // The handles without which the bug does no harm ("fabric"); empty: any will do.
  std::string_view needs;
  symm_mem::MulticastOrder order = nullptr;  // null: the reference's
  AllGather all_gather = nullptr;            // null: the reference's
};

// All defects, sorted by name.
const std::vector<Defect>& all();

// Each states its bug where it is defined.
symm_mem::Status root_keeps_native(symm_mem::Multicast& multicast);
symm_mem::Status root_releases_early(symm_mem::Multicast& multicast);
symm_mem::Status missing_event_wait(symm_mem::Block& block, CUdeviceptr source,
                                    std::size_t bytes_per_rank, int member, CUstream stream);

}  // namespace symmcts::defects

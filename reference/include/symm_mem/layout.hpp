#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"

namespace symm_mem {

// Independent barriers and signals of one block: a stream that uses a channel orders itself against
// the same channel of its peers only.
inline constexpr int kChannels = 8;
// Data begins at a multiple of this in every block.
inline constexpr std::size_t kDataAlignment = 256;

// How a block lies in its allocation: signal pads first, data behind them, the rest up to the
// granularity unused. Pads belong to one block of one group, so no two groups share a word.
struct Layout {
  std::uint64_t bytes = 0;        // as asked for
  std::uint64_t data_offset = 0;  // size of the pads
  std::uint64_t total = 0;        // physical size: also the multicast object's and the bound size
  std::uint32_t ranks = 0;
  std::uint32_t route = 0;

  // Offsets of the 32-bit words that `source` writes and the pad's owner waits for.
  std::uint64_t barrier_word(int channel, int source) const {
    return 4 * (static_cast<std::uint64_t>(channel) * ranks + source);
  }
  std::uint64_t signal_word(int channel, int source) const {
    return 4 * (static_cast<std::uint64_t>(kChannels + channel) * ranks + source);
  }
};

// Plans a block of `bytes` (at least 1) for `ranks` ranks. The total is a multiple of
// `granularity`, the larger of the memory's and the multicast object's (Megatron-LM#6956).
Result<Layout> plan_layout(std::uint64_t bytes, int ranks, std::size_t granularity,
                           std::uint32_t route);

Bytes pack(const Layout& layout);

// Refuses records that are not of this version or that differ from the root's, with the same Error
// on every rank (SM-LAYO-1, SM-LAYO-6).
Status compare_layouts(const Group& group, const std::vector<Bytes>& records);

}  // namespace symm_mem

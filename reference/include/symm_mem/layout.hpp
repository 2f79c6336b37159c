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
// What a 32-bit word of a pad is for. Each kind has words of its own for every channel and source,
// so no two protocols, channels or ranks share one (SM-SIG-3, pytorch#192581).
enum class Word : std::uint8_t {
  barrier,  // counts the source's barriers
  signal,   // counts the source's signals
  enter,    // 1 when the source has begun a captured barrier; the owner puts it back to 0
  leave,    // the same for its second half
  slot,     // 1 when the source has put a captured signal; the owner puts it back to 0
};
inline constexpr int kWordKinds = 5;

// Bytes that each rank writes to try out the multicast mapping: few enough to count as a signal.
inline constexpr std::uint64_t kProbeBytes = 16;

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

  // Offset of the word that `source` writes and the pad's owner waits for.
  std::uint64_t word(Word kind, int channel, int source) const {
    const auto row = static_cast<std::uint64_t>(kind) * kChannels + static_cast<unsigned>(channel);
    return 4 * (row * ranks + static_cast<unsigned>(source));
  }
  // Where the multicast probe of `source` lands; `source` == ranks: where the owner keeps its own
  // pattern.
  std::uint64_t probe(std::uint32_t source) const {
    const std::uint64_t words = std::uint64_t{4} * kWordKinds * kChannels * ranks;
    return (words + kProbeBytes - 1) / kProbeBytes * kProbeBytes + kProbeBytes * source;
  }
};

// Plans a block of `bytes` (at least 1, of any parity: SM-LAYO-5) for `ranks` ranks. The total is a
// multiple of `granularity`, the larger of the memory's and the multicast object's
// (Megatron-LM#6956).
Result<Layout> plan_layout(std::uint64_t bytes, int ranks, std::size_t granularity,
                           std::uint32_t route);

Bytes pack(const Layout& layout);

// Refuses records that are not of this version or that differ from the root's, with the same Error
// on every rank (SM-LAYO-1, SM-LAYO-6).
Status compare_layouts(const Group& group, const std::vector<Bytes>& records);

}  // namespace symm_mem

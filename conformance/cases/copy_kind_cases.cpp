// Which kind of copy a multicast write is on each rank. The judge compares the records.
#include <algorithm>
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"
#include "conformance/cases/device.hpp"

namespace symmcts::cases {
namespace {

// From just above a signal (16 bytes) to a size that occupies an engine for a while, odd ones too.
constexpr std::array<std::size_t, 5> kSizes = {17, 4096, 65536 + 1, 1 << 20, (4 << 20) - 3};

// Every rank writes the same sizes in the same order, each into a part of the block of its own.
void multicast_writes_are_alike(Bench& bench) {
  const std::size_t part = *std::max_element(kSizes.begin(), kSizes.end());
  if (!bench.open()) return;
  std::unique_ptr<Block> block = bench.make_block(part * static_cast<std::size_t>(bench.size()));
  if (block == nullptr) return;

  Stream stream;
  DeviceBuffer source;
  std::string failure = stream.make();
  if (failure.empty()) failure = source.make(part);
  if (failure.empty()) failure = fill(source.get(), 0x33, part);
  if (!bench.need(failure)) return;

  const std::size_t offset = part * static_cast<std::size_t>(bench.rank());
  bench.marks().measure_begin("multicast writes");
  Outcome outcome;
  for (const std::size_t bytes : kSizes) {
    if (outcome.ok) outcome = block->write_multicast(offset, source.get(), bytes, stream.get());
  }
  if (outcome.ok) {
    outcome.text = stream.synchronize();
    outcome.ok = outcome.text.empty();
  }
  bench.marks().measure_end("multicast writes");
  if (!bench.step("write_multicast", outcome)) return;
  if (!bench.free_block(std::move(block))) return;
  bench.close();
}

}  // namespace

std::span<const Case> copy_kind_cases() {
  static const std::array cases = {
      Case{"CopyKind",
           "MulticastWritesAreAlike",
           {"SM-KIND-1", "SM-KIND-2"},
           2,
           true,
           multicast_writes_are_alike},
  };
  return cases;
}

}  // namespace symmcts::cases

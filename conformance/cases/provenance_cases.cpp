// Where multicast mappings come from. The cases exercise the implementation; the judge reads the
// handles off the recorded calls.
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"
#include "conformance/cases/device.hpp"

namespace symmcts::cases {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 16;

// One write through the mapping, so that a block counts as used.
bool write_once(Bench& bench, Block& block) {
  Stream stream;
  DeviceBuffer source;
  std::string failure = stream.make();
  if (failure.empty()) failure = source.make(kBytes);
  if (failure.empty()) failure = fill(source.get(), 0x5a, kBytes);
  if (!bench.need(failure)) return false;
  const std::size_t part = kBytes / static_cast<std::size_t>(bench.size());
  const std::size_t offset = part * static_cast<std::size_t>(bench.rank());
  Outcome outcome = block.write_multicast(offset, source.get(), part, stream.get());
  if (outcome.ok) {
    outcome.text = stream.synchronize();
    outcome.ok = outcome.text.empty();
  }
  return bench.step("write_multicast", outcome);
}

// Two blocks that live at once and, after both are gone, a third: the first mapping of a process
// is not the only one that must be right (SM-PROV-2).
void every_rank_maps_an_import(Bench& bench) {
  if (!bench.open()) return;
  std::unique_ptr<Block> first = bench.make_block(kBytes);
  if (first == nullptr || !write_once(bench, *first)) return;
  std::unique_ptr<Block> second = bench.make_block(2 * kBytes);
  if (second == nullptr || !write_once(bench, *second)) return;
  if (!bench.free_block(std::move(first)) || !bench.free_block(std::move(second))) return;
  std::unique_ptr<Block> again = bench.make_block(kBytes);
  if (again == nullptr || !write_once(bench, *again)) return;
  if (!bench.free_block(std::move(again))) return;
  bench.close();
}

}  // namespace

std::span<const Case> provenance_cases() {
  static const std::array cases = {
      Case{"Provenance",
           "EveryRankMapsAnImport",
           {"SM-PROV-1", "SM-PROV-2"},
           2,
           true,
           every_rank_maps_an_import},
  };
  return cases;
}

}  // namespace symmcts::cases

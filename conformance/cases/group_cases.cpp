// Groups that hold some of the ranks each, all at work at once: every group has a root of its own,
// and roots sit on different device ordinals. The judge compares the records over all ranks.
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"
#include "conformance/cases/device.hpp"
#include "conformance/cases/groups.hpp"
#include "conformance/cases/pattern.hpp"

namespace symmcts::cases {
namespace {

constexpr std::size_t kDefaultBytes = std::size_t{64} << 10;

// What is wrong with this rank's replica, or "".
std::string written_wrongly(const Bench& bench, const Block& block, const std::vector<int>& members,
                            std::size_t bytes) {
  Content actual(bytes);
  for (std::size_t slot = 0; slot < members.size(); ++slot) {
    const std::string failure = download(actual.data(), block.local() + bytes * slot, bytes);
    if (!failure.empty()) return failure;
    const Content expected = pattern(bench.settings().seed, members[slot], 0, bytes);
    if (const auto at = first_difference(expected, actual)) {
      return "byte " + std::to_string(bytes * slot + *at) + " of the replica of rank " +
             std::to_string(bench.rank()) + ", written by rank " + std::to_string(members[slot]) +
             ", is " + std::to_string(actual[*at]) + " instead of " + std::to_string(expected[*at]);
    }
  }
  return "";
}

// Every rank writes its part once, through the multicast address of its group.
void writes_are_alike(Bench& bench) {
  const Deal deal{bench.settings().group_domain, bench.settings().group_size};
  if (!bench.agree_to_run(obstacle_to(deal, bench.size()))) return;
  const std::vector<int> members = members_of(deal, bench.size(), bench.rank());
  const std::size_t bytes = bench.settings().bytes != 0 ? bench.settings().bytes : kDefaultBytes;
  if (!bench.open_group(members)) return;
  std::unique_ptr<Block> block = bench.make_block(bytes * members.size());
  if (block == nullptr) return;

  Stream stream;
  DeviceBuffer source;
  const Content part = pattern(bench.settings().seed, bench.rank(), 0, bytes);
  std::string failure = stream.make();
  if (failure.empty()) failure = source.make(bytes);
  if (failure.empty()) failure = upload(source.get(), part.data(), bytes);
  if (!bench.need(failure)) return;

  bench.marks().measure_begin("writes of all groups");
  Outcome outcome = block->all_gather(source.get(), bytes, true, stream.get());
  // Before waiting: a rank that could not submit would leave the others' streams waiting for ever.
  if (!bench.step("all_gather", outcome)) {
    stream.abandon();
    source.abandon();
    bench.abandon(std::move(block));
    return;
  }
  outcome.text = stream.synchronize();
  outcome.ok = outcome.text.empty();
  bench.marks().measure_end("writes of all groups");
  if (!bench.step("all_gather", outcome)) return;
  if (!bench.check({"SM-DATA-1"}, written_wrongly(bench, *block, members, bytes),
                   "the parts of all members are in this rank's replica")) {
    return;
  }
  if (!bench.free_block(std::move(block))) return;
  bench.close();
}

}  // namespace

std::span<const Case> group_cases() {
  static const std::array cases = {
      Case{"Groups",
           "WritesAreAlike",
           {"SM-KIND-1", "SM-KIND-2", "SM-PROV-1", "SM-PROV-2", "SM-DATA-1"},
           4,
           true,
           writes_are_alike},
  };
  return cases;
}

}  // namespace symmcts::cases

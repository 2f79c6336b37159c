// How long references live. The judge reads creates, imports and releases off the recorded calls of
// all ranks; a rendezvous that can never end shows as a hang.
#include <array>
#include <utility>

#include "conformance/cases/case.hpp"

namespace symmcts::cases {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 16;

// A rendezvous. When a peer imports late (a scenario can hold it until the root has released its
// create reference, if it does so early), the object must still be there.
void create_reference_outlives_imports(Bench& bench) {
  if (!bench.open()) return;
  std::unique_ptr<Block> block = bench.make_block(kBytes);
  if (block == nullptr) return;
  if (!bench.free_block(std::move(block))) return;
  bench.close();
}

}  // namespace

std::span<const Case> lifetime_cases() {
  static const std::array cases = {
      Case{"Lifetime",
           "CreateReferenceOutlivesImports",
           {"SM-LIFE-1"},
           2,
           true,
           create_reference_outlives_imports},
  };
  return cases;
}

}  // namespace symmcts::cases

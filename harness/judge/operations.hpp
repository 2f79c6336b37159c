#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/objects.hpp"

namespace symmcts::judge {

// Copies of this many bytes or less are signals and are kept apart (design section 5).
inline constexpr std::int64_t kSignalBytes = 16;

// What a copy writes to, as far as the source shows it.
enum class Target : std::uint8_t {
  unknown,
  multicast,
  own,   // memory that this rank created
  peer,  // unicast memory that this rank imported
  host,
};
const char* name(Target target);

// One copy with what belongs to it: the call that submitted it and where it went.
struct Operation {
  const evidence::Copy* copy = nullptr;
  const evidence::Call* call = nullptr;  // null where the source has none
  Target target = Target::unknown;
  std::string label;       // of its measured phase
  bool measured = true;    // lies in a measured phase
  std::int64_t bytes = 0;  // of one copy where a record stands for several
  std::int64_t count = 1;  // copies that the record stands for
  bool signal() const { return bytes >= 0 && bytes <= kSignalBytes; }
};

// All copies of a rank in the order of their API calls (correlation id), which is not the order in
// which they ran. The measured phase is what lies between measure-begin and measure-end marks; of a
// file that a rank program wrote without such marks nothing is measured; of any other file all is.
// `rank` and `objects` must outlive the result.
std::vector<Operation> operations(const evidence::RankEvidence& rank, const RankObjects& objects);

}  // namespace symmcts::judge

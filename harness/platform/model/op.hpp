#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/platform/model/profile.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

enum class OpKind : std::uint8_t { copy, write_word, wait_word, host_function, marker };

struct Op;
using OpPtr = std::shared_ptr<Op>;

// One operation of a stream. Owned by the timeline until it is done, and by whoever keeps the
// pointer; only the timeline writes it.
struct Op {
  std::uint64_t id = 0;
  std::uint32_t stream = 0;
  int device = 0;
  OpKind kind{};
  CopyClass copy_class{};
  std::uint64_t bytes = 0;
  Ns submitted = 0;
  Ns ready = 0;  // not before: submitted, and the end of everything it depends on
  Ns start = 0;
  Ns end = 0;
  bool done = false;

  std::vector<std::uint64_t> after;  // ids of what it was ordered behind, done or not

  // Bookkeeping of the timeline.
  int pending = 0;  // dependencies that are not done
  std::vector<OpPtr> dependents;
  std::uint64_t remaining = 0;  // engine time left, had it the link for itself
  std::uint64_t rate = 0;       // parts per million of engine time that one ns of work takes
  Ns progressed = 0;            // time at which `remaining` was true
  Ns planned_end = 0;
};

}  // namespace symmcts::platform

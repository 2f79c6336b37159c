#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "harness/platform/model/race_clock.hpp"
#include "harness/platform/model/race_log.hpp"

namespace symmcts::platform {

// Who accessed memory, as long as somebody may still race with it.
struct RaceActor {
  int rank = 0;
  std::uint32_t stream = 0;
  RaceOp::Kind kind = RaceOp::Kind::plain;
  std::string call;
  std::uint32_t correlation = 0;
  Moment ended;
  RaceClock clock;
};
using RaceActorPtr = std::shared_ptr<const RaceActor>;

// Where an access lies. `space`: an allocation, or the host memory of one process.
struct RacePlace {
  std::uint64_t space = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// For each byte, the accesses that are not ordered before a later one that would race with
// everything they race with. Not thread safe.
class RaceShadow {
 public:
  // Two accesses to `bytes` that no edge orders; `second` came in later.
  using Found =
      std::function<void(const RaceActorPtr& first, bool first_writes, const RaceActorPtr& second,
                         bool second_writes, const RacePlace& bytes)>;

  // Notes an access and names what it races with.
  void access(const RaceActorPtr& actor, const RacePlace& place, bool write, const Found& found);
  // The writes of `place` that are noted.
  std::vector<RaceActorPtr> writes(const RacePlace& place) const;

 private:
  struct Cell {
    std::uint64_t end = 0;
    std::vector<RaceActorPtr> writes, reads;
  };
  using Cells = std::map<std::uint64_t, Cell>;  // by first byte; they do not overlap

  // Cuts the cell that holds `at`, if any, so that one begins there.
  static void cut(Cells& cells, std::uint64_t at);

  std::map<std::uint64_t, Cells> spaces_;
};

}  // namespace symmcts::platform

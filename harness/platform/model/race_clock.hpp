#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// A vector clock. A component is a line of work in which each operation follows the one before (a
// stream of a process); the clock of an operation knows, of each line, up to which operation all
// are ordered before it. Cheap to copy: operations that join nothing new share one vector.
class RaceClock {
 public:
  using Tick = std::uint32_t;  // operations of a line, counted from 1

  RaceClock() = default;

  bool knows(std::size_t line, Tick tick) const {
    return (line == line_ && tick <= tick_) || tick <= component(line);
  }
  // Everything that `other` knows is known here too from now on.
  void join(const RaceClock& other);
  // Becomes the clock of operation `tick` of `line`. Precondition: the line's earlier ones are
  // known.
  void enter(std::size_t line, Tick tick);

  std::size_t line() const { return line_; }
  Tick tick() const { return tick_; }
  // When the last operation was submitted that is known, itself included.
  Ns latest() const { return latest_; }
  void submitted(Ns at) { latest_ = at > latest_ ? at : latest_; }

 private:
  using Vector = std::vector<Tick>;
  Tick component(std::size_t line) const {
    return others_ == nullptr || line >= others_->size() ? 0 : (*others_)[line];
  }
  bool dominates(const RaceClock& other) const;

  std::shared_ptr<const Vector> others_;
  std::size_t line_ = ~std::size_t{0};
  Tick tick_ = 0;
  Ns latest_ = 0;
};

}  // namespace symmcts::platform

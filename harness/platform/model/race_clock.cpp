#include "harness/platform/model/race_clock.hpp"

#include <algorithm>

namespace symmcts::platform {

bool RaceClock::dominates(const RaceClock& other) const {
  if (other.tick_ != 0 && !knows(other.line_, other.tick_)) return false;
  if (other.others_ == nullptr || other.others_ == others_) return true;
  for (std::size_t line = 0; line < other.others_->size(); ++line) {
    const Tick tick = (*other.others_)[line];
    if (tick != 0 && !knows(line, tick)) return false;
  }
  return true;
}

void RaceClock::join(const RaceClock& other) {
  latest_ = std::max(latest_, other.latest_);
  if (dominates(other)) return;
  // The other way round the vector of the other can be shared.
  if (tick_ == 0 && other.tick_ == 0 && other.dominates(*this)) {
    others_ = other.others_;
    return;
  }
  Vector joined = others_ == nullptr ? Vector() : *others_;
  const auto raise = [&](std::size_t line, Tick tick) {
    if (joined.size() <= line) joined.resize(line + 1);
    joined[line] = std::max(joined[line], tick);
  };
  if (other.others_ != nullptr) {
    if (joined.size() < other.others_->size()) joined.resize(other.others_->size());
    for (std::size_t line = 0; line < other.others_->size(); ++line) {
      joined[line] = std::max(joined[line], (*other.others_)[line]);
    }
  }
  if (other.tick_ != 0) raise(other.line_, other.tick_);
  others_ = std::make_shared<const Vector>(std::move(joined));
}

void RaceClock::enter(std::size_t line, Tick tick) {
  if (tick_ != 0 && line_ != line) {
    Vector joined = others_ == nullptr ? Vector() : *others_;
    if (joined.size() <= line_) joined.resize(line_ + 1);
    joined[line_] = std::max(joined[line_], tick_);
    others_ = std::make_shared<const Vector>(std::move(joined));
  }
  line_ = line;
  tick_ = tick;
}

}  // namespace symmcts::platform

#include "harness/platform/model/hold_gates.hpp"

#include <algorithm>

namespace symmcts::platform {
namespace {

bool matches(const std::optional<ObjectKind>& wanted, std::optional<ObjectKind> object) {
  return !wanted || wanted == object;
}

}  // namespace

HoldGates::HoldGates(const std::vector<Hold>& holds) {
  for (const Hold& hold : holds) gates_.push_back({hold, false, false, false, 0});
}

std::optional<Ns> HoldGates::before(int rank, std::string_view function,
                                    std::optional<ObjectKind> object, Ns now) {
  bool waits = false;
  for (Gate& gate : gates_) {
    if (gate.spent || gate.hold.rank != rank || gate.hold.before != function ||
        !matches(gate.hold.object, object)) {
      continue;
    }
    gate.keeps = !gate.open;
    waits = waits || gate.keeps;
    now = std::max(now, gate.opened_at);
  }
  if (waits) return std::nullopt;
  for (Gate& gate : gates_) {
    if (gate.hold.rank == rank && gate.hold.before == function &&
        matches(gate.hold.object, object)) {
      gate.spent = true;
    }
  }
  return now;
}

void HoldGates::passed(int rank, std::string_view function, std::optional<ObjectKind> object,
                       Ns at) {
  for (Gate& gate : gates_) {
    if (gate.open || gate.hold.until_rank != rank || gate.hold.until_passed != function ||
        !matches(gate.hold.until_object, object)) {
      continue;
    }
    gate.open = true;
    gate.opened_at = at;
  }
}

void HoldGates::rank_gone(int rank) {
  for (Gate& gate : gates_) {
    if (gate.hold.until_rank == rank) gate.open = true;
    if (gate.hold.rank == rank) gate.keeps = false;
  }
}

bool HoldGates::keeps_somebody() const {
  return std::any_of(gates_.begin(), gates_.end(),
                     [](const Gate& gate) { return gate.keeps && !gate.open; });
}

void HoldGates::open_first() {
  for (Gate& gate : gates_) {
    if (!gate.keeps || gate.open) continue;
    gate.open = true;
    return;
  }
}

}  // namespace symmcts::platform

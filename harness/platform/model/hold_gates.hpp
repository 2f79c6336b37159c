#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/platform/model/scenario.hpp"
#include "harness/platform/model/units.hpp"

namespace symmcts::platform {

// The holds of a scenario at work. A hold applies once, to the first call that it names; it opens
// when the other rank has passed its call, at whatever time, or when the caller of open_first()
// finds that nobody else can move. Not thread safe.
class HoldGates {
 public:
  explicit HoldGates(const std::vector<Hold>& holds);

  bool any() const { return !gates_.empty(); }

  // Asks for passage before a call. Nothing: the call has to wait, ask again after passed(),
  // open_first() or rank_gone(). Else the caller's clock, not before the moment at which it opened.
  // An object of unknown kind matches only holds that name none.
  std::optional<Ns> before(int rank, std::string_view function, std::optional<ObjectKind> object,
                           Ns now);
  // A call has returned success at `at`.
  void passed(int rank, std::string_view function, std::optional<ObjectKind> object, Ns at);
  // No process of that rank is left: what it has not passed it never will.
  void rank_gone(int rank);

  // Some call waits for a hold.
  bool keeps_somebody() const;
  // Opens the first hold, in the order of the file, that keeps somebody.
  void open_first();

 private:
  struct Gate {
    Hold hold;
    bool open = false, keeps = false, spent = false;
    Ns opened_at = 0;
  };
  std::vector<Gate> gates_;
};

}  // namespace symmcts::platform

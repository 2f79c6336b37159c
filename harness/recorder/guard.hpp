#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "harness/permit/driver_kind.hpp"
#include "harness/permit/environment.hpp"

namespace symmcts::recorder {

// Ends the process before a multicast object is created on a real driver without a permit (design,
// section 3). Called from the callback at the entry of a driver call, before the driver runs it.
class Guard {
 public:
  // `driver` as found when the recorder was loaded; the environment is read once, then.
  Guard(LoadedDriver driver, PermitEnvironment environment, int rank);

  // True for cuMulticastCreate in every version.
  static bool concerns(std::string_view function);

  // Returns if the call may go on; else tells `last_words` why, writes one line to stderr and exits
  // with 3 at once, so that no destructor touches the driver.
  void check(std::string_view function,
             const std::function<void(const std::string&)>& last_words) const;

  // The same for a process in which the guard cannot be put in place, for the reason given.
  void require_permit(std::string_view why_unguarded) const;

 private:
  DriverKind driver_now(std::string& path) const;
  [[noreturn]] void refuse(const std::string& text) const;

  LoadedDriver driver_;
  PermitEnvironment environment_;
  int rank_ = 0;
};

}  // namespace symmcts::recorder

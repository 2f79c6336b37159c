#include "harness/recorder/guard.hpp"

#include <unistd.h>

#include <string>
#include <utility>

#include "harness/permit/permit.hpp"
#include "harness/recorder/call_rules.hpp"
#include "harness/recorder/report_line.hpp"

namespace symmcts::recorder {

Guard::Guard(LoadedDriver driver, PermitEnvironment environment, int rank)
    : driver_(std::move(driver)), environment_(std::move(environment)), rank_(rank) {}

bool Guard::concerns(std::string_view function) {
  return base_name(function) == "cuMulticastCreate";
}

// A second driver may have been loaded since the start. What cannot be named counts as real.
DriverKind Guard::driver_now(std::string& path) const {
  const LoadedDriver now = loaded_driver();
  path = now.kind == DriverKind::real ? now.path : driver_.path;
  const bool software = driver_.kind == DriverKind::software && now.kind != DriverKind::real;
  return software ? DriverKind::software : DriverKind::real;
}

void Guard::refuse(const std::string& text) const {
  report_line("refused on rank " + std::to_string(rank_) + ": " + text);
  _exit(kRefused);
}

void Guard::check(std::string_view function,
                  const std::function<void(const std::string&)>& last_words) const {
  std::string path;
  const Permit permit = decide_permit(driver_now(path), environment_);
  if (permit.granted) return;
  const std::string text = std::string(function) + " on " + path + ": " + permit.reason;
  last_words(text);
  refuse(text);
}

void Guard::require_permit(std::string_view why_unguarded) const {
  std::string path;
  const Permit permit = decide_permit(driver_now(path), environment_);
  if (permit.granted) return;
  refuse("cannot watch for cuMulticastCreate on " + path + " (" + std::string(why_unguarded) +
         "), and there is " + permit.reason);
}

}  // namespace symmcts::recorder

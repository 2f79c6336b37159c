#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/platform_hooks.hpp"
#include "harness/adapter/implementation.hpp"

namespace symmcts::cases {

// Why a rank ends without a verdict, for Marks::give_up.
inline constexpr std::string_view kRefusal = "refusal";  // ours: the unit is an error
inline constexpr std::string_view kThrew = "threw";      // the implementation's: a crash
inline constexpr std::string_view kPeer = "peer";        // another rank's, whatever that is

// Writes marks (harness/evidence/README.md) through the recorder that the driver has loaded into
// this process; without one they go nowhere.
class Marks {
 public:
  // `unit` and `ids` go into the marks that name a case.
  Marks(std::string unit, std::vector<std::string> ids);

  // Looks for the recorder, which is there once cuInit has returned. True if it is.
  bool connect();

  void case_begin() const;
  void case_end() const;
  void group(const std::string& name, const std::vector<int>& ranks, int root) const;
  // Told twice, it counts once. The platform hears of it after the evidence has it: a scenario may
  // end the rank there.
  void phase(std::string_view phase);
  void measure_begin(const std::string& label) const;
  void measure_end(const std::string& label) const;
  void check(const std::vector<std::string>& ids, bool ok, const std::string& text) const;
  void skip(const std::string& reason) const;
  void outcome(const std::string& call, const Outcome& outcome) const;
  // The rank ends without a verdict. `lost`: because of that rank, which is gone; -1: none.
  void give_up(std::string_view cause, const std::string& text, int lost = -1) const;

  // Takes in the records of all device work that has ended. True if everything so far is in the
  // evidence.
  bool flush() const;

 private:
  std::string unit_;
  std::vector<std::string> ids_;
  std::string phase_;
  PlatformHooks hooks_;
  void (*mark_)(const char*) = nullptr;
  int (*flush_)() = nullptr;
};

}  // namespace symmcts::cases

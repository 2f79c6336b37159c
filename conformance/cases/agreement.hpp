#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symm_mem/exchange.hpp"

namespace symmcts::cases {

// For waits that only somebody outside can end: the supervisor's watchdog, or the platform, which
// names what every rank waits for. A rank that gave up by itself would hide that; so the platform
// lets a deadline of this length pass only where the scenario has stopped a rank
// (symmcts_platform.h: last resort). On a real driver the watchdog comes first.
inline constexpr std::chrono::nanoseconds kLastResort = std::chrono::hours(1);

// "Agree, then fail": no rank leaves a case, by failure or by skip, before all ranks know. The
// harness's own, so that it does not depend on the implementation under test.
//
// All ranks make the same calls in the same order. A rank that is gone or silent breaks the
// agreement: that call and every later one fail at once, and broken() names the rank.
class Agreement {
 public:
  // The exchange is not owned. `deadline`: of one wait for one rank.
  Agreement(symm_mem::Exchange& exchange, std::chrono::nanoseconds deadline);

  int rank() const { return exchange_.rank(); }
  int size() const { return exchange_.size(); }

  // Everyone's text, by rank; nothing where the agreement is broken. Blocks until all ranks have
  // called it.
  std::optional<std::vector<std::string>> gather(const std::string& mine);

  // Why the agreement is broken, or "".
  const std::string& broken() const { return broken_; }
  // The rank that broke it, the same on every rank that could be told; or -1.
  int lost() const { return lost_; }

 private:
  bool note(const symm_mem::ExchangeResult& result, int rank);
  std::optional<std::vector<std::string>> collect(std::uint64_t tag, const std::string& mine);
  std::optional<std::vector<std::string>> ask(std::uint64_t tag, const std::string& mine);

  symm_mem::Exchange& exchange_;
  std::chrono::nanoseconds deadline_;
  std::uint64_t sequence_ = 0;
  std::string broken_;
  int lost_ = -1;
};

}  // namespace symmcts::cases

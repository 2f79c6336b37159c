#pragma once

#include <cstdint>

#include "symm_mem/exchange.hpp"

namespace symmcts::cases {

// Tells the software platform about messages between ranks, through the optional functions of
// symmcts_platform.h. On a real driver, which has none of them, every call does nothing.
class PlatformHooks final : public symm_mem::ExchangeObserver {
 public:
  PlatformHooks();

  // Declares that all host traffic of this process goes through an exchange that has this
  // observer. Before cuInit.
  void managed() const;

  // The rank begins a phase: a scenario may end or stop it there.
  void phase(const char* name) const;

  std::uint64_t leaving(int to) override;
  int wait_begins(std::chrono::nanoseconds deadline) override;
  bool wait_ends(std::span<const std::uint64_t> values) override;

 private:
  void (*managed_)() = nullptr;
  std::uint64_t (*message_out_)(int) = nullptr;
  void (*phase_)(const char*) = nullptr;
  int (*wait_begin_)(std::uint64_t) = nullptr;
  int (*wait_end_)(const std::uint64_t*, std::size_t) = nullptr;
};

}  // namespace symmcts::cases

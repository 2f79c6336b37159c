#pragma once

#include <cstdint>
#include <string>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {

// A driver call of this thread between its two callbacks.
struct PendingCall {
  const CallRule* rule = nullptr;
  std::uint32_t correlation = 0;
  std::uint64_t sequence = 0;
  std::uint64_t begun = 0;
  Number newest = 0;
  std::string args;  // of a release, described at its entry
};

// Calls of one thread nest (a driver function may call another), so they are a stack.
void push_pending(PendingCall call);
// Takes the call with that correlation id, and drops those above it, which never came back; false
// if there is none.
bool pop_pending(std::uint32_t correlation, PendingCall& call);

}  // namespace symmcts::recorder

#pragma once

#include <optional>
#include <string_view>

#include "harness/evidence/model.hpp"

namespace symmcts::evidence {

// One event of a trace, as far as evidence needs it: a copy, other work of a stream, or an API
// call. Times are relative to the trace's base.
struct KinetoEvent {
  enum class Kind : std::uint8_t { other, damaged, copy, work, call };
  Kind kind = Kind::other;
  Copy copy;
  Work work;
  Call call;
  bool lost_copy = false;     // damaged, and it may have been a copy
  bool fraction = false;      // its times have a fraction: nanosecond resolution
  bool unnamed_peer = false;  // written by a profiler that has no PtoP kind (ROCm)
};

// Reads the text of one event. Both spellings of `cat`, both shapes of peer copies (with `device`,
// or with fromDevice/inDevice/toDevice).
KinetoEvent read_kineto_event(std::string_view text);
// For text that is no event: false only if it certainly held no copy.
bool may_be_copy(std::string_view text);

}  // namespace symmcts::evidence

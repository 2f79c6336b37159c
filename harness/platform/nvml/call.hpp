#pragma once

#include <cstring>
#include <string_view>

#include "harness/platform/nvml/world.hpp"

// What every exported function begins with. A function is defined as
//   SYMMCTS_NVML nvmlDeviceGetIndex(Device device, unsigned* index) { ... }
// and generate_nvml.py finds it by that line.
#define SYMMCTS_NVML \
  extern "C" __attribute__((visibility("default"))) ::symmcts::platform::nvml::Return

namespace symmcts::platform::nvml {

// Counts an nvmlInit: the first one looks at the machine. And an nvmlShutdown: the last one forgets
// it.
Return begin();
Return end();

// The world, held for the length of a call: a shutdown of another thread does not take it away.
// Null before nvmlInit.
std::shared_ptr<const World> world();

// One line on stderr, with the library's name in front.
void say(const std::string& line);

// For functions that nobody has written: names the function once, NOT_SUPPORTED.
Return not_modelled(const char* function, bool& told);

// A text for a caller's buffer, as measured: INSUFFICIENT_SIZE where it does not fit with its end.
Return give_text(std::string_view text, char* out, unsigned length);

// Calls `body(world, index)` for a handle: UNINITIALIZED before nvmlInit, INVALID_ARGUMENT for what
// is no handle.
template <typename Body>
Return on_device(Device device, const Body& body) {
  const auto here = world();
  if (!here) return Return::uninitialized;
  const int index = here->index_of(device);
  return index < 0 ? Return::invalid_argument : body(*here, index);
}

}  // namespace symmcts::platform::nvml

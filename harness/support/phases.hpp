#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace symmcts {

// What a rank can be doing, as the `phase` marks of the rank program name it: its own steps, and
// those of the reference (reference/src/result.cpp: phase_name), which the adapter passes on. A
// scenario can name these; a test holds the list against both.
inline constexpr std::string_view kPhases[] = {
    // of the rank program
    "construct", "open", "make-block", "ready", "teardown", "close",
    // of the reference
    "allocate", "layout", "export", "import", "map-peers", "create-multicast", "share-multicast",
    "import-multicast", "add-device", "bind", "map", "release-create", "probe", "retry", "use"};

constexpr bool is_phase(std::string_view name) {
  return std::any_of(std::begin(kPhases), std::end(kPhases),
                     [name](std::string_view known) { return known == name; });
}

// All of them, for messages: "construct, open, ...".
inline std::string phase_list() {
  std::string list;
  for (const std::string_view phase : kPhases) {
    list += (list.empty() ? "" : ", ") + std::string(phase);
  }
  return list;
}

}  // namespace symmcts

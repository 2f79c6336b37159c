#pragma once

#include <string_view>

namespace symmcts {

// The last line of every list that the rank program prints: one without it has been cut, as by a
// full disk.
inline constexpr std::string_view kListEnd = "end of the list\n";

}  // namespace symmcts

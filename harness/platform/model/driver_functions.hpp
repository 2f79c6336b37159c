#pragma once

#include <cstdint>
#include <string_view>

namespace symmcts::platform {

// Names of the driver's functions and errors, as profiles and scenarios use them: those that the
// platform exports, out of the public headers it was built with.

// A name of the API, without version and stream suffix: cuMemcpyHtoDAsync.
bool is_driver_function(std::string_view name);
// A name of the library, with them: cuMemcpyHtoDAsync_v2_ptsz.
bool is_driver_symbol(std::string_view name);
// May be called before cuInit, which brings the machine: no machine can say anything about it.
bool needs_no_machine(std::string_view name);

// The name of an error code of the driver, or "" if it has none (success is no error).
std::string_view error_name(std::int64_t code);
// The other way round; 0 for what is no error.
int error_code(std::string_view name);

}  // namespace symmcts::platform

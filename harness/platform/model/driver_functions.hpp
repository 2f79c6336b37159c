#pragma once

#include <string_view>

namespace symmcts::platform {

// Names of the driver's functions, as profiles and scenarios use them: those that the platform
// exports, out of the public headers it was built with.

// A name of the API, without version and stream suffix: cuMemcpyHtoDAsync.
bool is_driver_function(std::string_view name);
// A name of the library, with them: cuMemcpyHtoDAsync_v2_ptsz.
bool is_driver_symbol(std::string_view name);

}  // namespace symmcts::platform

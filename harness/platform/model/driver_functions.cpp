#include "harness/platform/model/driver_functions.hpp"

#include <algorithm>
#include <iterator>

namespace symmcts::platform {
namespace {

#include "driver_functions.inc"

}  // namespace

bool is_driver_function(std::string_view name) {
  return std::binary_search(std::begin(kFunctions), std::end(kFunctions), name);
}

bool is_driver_symbol(std::string_view name) {
  return std::binary_search(std::begin(kSymbols), std::end(kSymbols), name);
}

}  // namespace symmcts::platform

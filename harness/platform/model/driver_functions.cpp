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

bool needs_no_machine(std::string_view name) {
  return std::binary_search(std::begin(kBeforeInit), std::end(kBeforeInit), name);
}

std::string_view error_name(std::int64_t code) {
  for (const auto& error : kErrors) {
    if (error.code == code) return error.name;
  }
  return {};
}

int error_code(std::string_view name) {
  for (const auto& error : kErrors) {
    if (error.name == name) return error.code;
  }
  return 0;
}

}  // namespace symmcts::platform

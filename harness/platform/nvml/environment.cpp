#include "harness/platform/nvml/environment.hpp"

#include <cstdlib>

#include "harness/platform/model/profile.hpp"
#include "harness/support/loaded_from.hpp"
#include "harness/support/whole_number.hpp"

namespace symmcts::platform::nvml {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<Environment> read_environment() {
  Environment out;
  out.machine = text("SYMMCTS_MACHINE");
  out.profile = text("SYMMCTS_PLATFORM");
  if (out.profile.empty()) out.profile = "gb200-nvl2";
  out.scenario = text("SYMMCTS_SCENARIO");
  const std::string host = text("SYMMCTS_HOST");
  if (!host.empty()) {
    const Status read = read_whole_number<int>("SYMMCTS_HOST", host, 0, kMostHosts - 1, out.host);
    if (!read) return Error{read.error()};
  }
  const std::string told = text("SYMMCTS_PROFILES"),
                    folder = folder_of_library(reinterpret_cast<void*>(&text));
  if (!told.empty()) out.profiles.push_back(told);
  out.profiles.push_back(folder + "/profiles");
  out.profiles.emplace_back(SYMMCTS_SOURCE_PROFILES);
  out.libcuda = folder + "/libcuda.so.1";
  return out;
}

}  // namespace symmcts::platform::nvml

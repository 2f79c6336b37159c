#include "harness/platform/nvml/environment.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>

namespace symmcts::platform::nvml {
namespace {

std::string text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The folder of this very libnvidia-ml.so.1, wherever it was loaded from.
std::string library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&library_folder), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace

Result<Environment> read_environment() {
  Environment out;
  out.machine = text("SYMMCTS_MACHINE");
  out.profile = text("SYMMCTS_PLATFORM");
  if (out.profile.empty()) out.profile = "gb200-nvl2";
  const std::string host = text("SYMMCTS_HOST");
  if (!host.empty()) {
    const char* end = host.data() + host.size();
    const auto [stop, error] = std::from_chars(host.data(), end, out.host);
    if (error != std::errc() || stop != end)
      return Error{"SYMMCTS_HOST=" + host + ": not a number"};
  }
  const std::string told = text("SYMMCTS_PROFILES"), folder = library_folder();
  if (!told.empty()) out.profiles.push_back(told);
  out.profiles.push_back(folder + "/profiles");
  out.profiles.emplace_back(SYMMCTS_SOURCE_PROFILES);
  out.libcuda = folder + "/libcuda.so.1";
  return out;
}

}  // namespace symmcts::platform::nvml

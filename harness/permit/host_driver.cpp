#include "harness/permit/host_driver.hpp"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

namespace symmcts {
namespace {

// The kernel side: the proprietary and open modules, WSL's paravirtual device, and Tegra.
constexpr std::array<const char*, 7> kKernelTraces = {
    "/proc/driver/nvidia", "/dev/nvidiactl", "/dev/nvidia0",    "/dev/nvidia-uvm",
    "/sys/module/nvidia",  "/dev/dxg",       "/dev/nvhost-gpu",
};

// Where distributions, containers and WSL put the user-mode driver.
constexpr std::array<const char*, 7> kDriverLibraries = {
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
};

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

// The linker's cache lists the paths of what it finds; a plain search answers without its format.
bool linker_cache_names_driver(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  return content.find("/libcuda.so.1") != std::string::npos;
}

}  // namespace

std::optional<std::string> find_real_driver_on_host(const std::string& root) {
  for (const char* path : kKernelTraces) {
    if (exists(root + path)) return path;
  }
  for (const char* path : kDriverLibraries) {
    if (exists(root + path)) return path;
  }
  if (linker_cache_names_driver(root + "/etc/ld.so.cache")) {
    return "/etc/ld.so.cache (libcuda.so.1)";
  }
  return std::nullopt;
}

}  // namespace symmcts

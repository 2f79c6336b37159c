#include "harness/platform/broker/environment.hpp"

#include <cstdlib>
#include <filesystem>

namespace symmcts::platform {

std::vector<std::string> profile_folders() {
  std::vector<std::string> folders;
  const char* told = std::getenv("SYMMCTS_PROFILES");
  if (told != nullptr && *told != '\0') folders.emplace_back(told);
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto prefix = program.parent_path().parent_path();
    folders.push_back((prefix / "platform" / "profiles").string());
    folders.push_back((prefix / "lib" / "symm-cts" / "platform" / "profiles").string());
  }
  folders.emplace_back(SYMMCTS_SOURCE_PROFILES);
  return folders;
}

}  // namespace symmcts::platform

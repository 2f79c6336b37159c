#include "harness/launch/watchdog.hpp"

#include <fmt/core.h>

#include <utility>

namespace symmcts::launch {

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

Watchdog::Watchdog(const Patience& patience, std::vector<std::filesystem::path> files,
                   Clock::time_point now)
    : patience_(patience), files_(std::move(files)), started_(now), moved_(now) {}

std::string Watchdog::look(Clock::time_point now) {
  std::uint64_t bytes = 0;
  for (const auto& file : files_) bytes += size_of(file);
  if (bytes != bytes_) {
    bytes_ = bytes;
    moved_ = now;
  }
  const auto seconds = [](std::chrono::milliseconds span) {
    return std::chrono::duration<double>(span).count();
  };
  if (now - started_ >= patience_.total) {
    return fmt::format("the unit took longer than {} s", seconds(patience_.total));
  }
  if (now - moved_ >= patience_.stall) {
    return fmt::format("nothing moved for {} s", seconds(patience_.stall));
  }
  return {};
}

}  // namespace symmcts::launch

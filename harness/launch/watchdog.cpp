#include "harness/launch/watchdog.hpp"

#include <fmt/core.h>

#include <utility>

namespace symmcts::launch {
namespace {

double seconds(std::chrono::milliseconds span) {
  return std::chrono::duration<double>(span).count();
}

}  // namespace

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

Watchdog::Watchdog(const Patience& patience, std::vector<std::filesystem::path> evidence,
                   std::vector<std::filesystem::path> others, Clock::time_point now)
    : patience_(patience),
      evidence_(std::move(evidence)),
      others_(std::move(others)),
      waiting_(evidence_.size()),
      started_(now),
      moved_(now) {}

void Watchdog::begin(Clock::time_point now) {
  if (std::exchange(begun_, true)) return;
  started_ = moved_ = now;
}

std::string Watchdog::look(Clock::time_point now) {
  std::uint64_t bytes = 0;
  waiting_ = 0;
  for (const auto& file : evidence_) {
    const std::uint64_t size = size_of(file);
    bytes += size;
    waiting_ += size == 0 ? 1 : 0;
  }
  for (const auto& file : others_) bytes += size_of(file);
  if (bytes != bytes_) {
    bytes_ = bytes;
    moved_ = now;
  }
  if (waiting_ == 0) begin(now);
  if (!begun_) return {};
  if (now - started_ >= patience_.total) {
    return fmt::format("the unit took longer than {} s", seconds(patience_.total));
  }
  if (now - moved_ >= patience_.stall) {
    return fmt::format("nothing moved for {} s", seconds(patience_.stall));
  }
  return {};
}

std::string Watchdog::start_problem(Clock::time_point now) const {
  if (begun_ || now - started_ < patience_.start) return {};
  return fmt::format("{} of {} ranks had not begun their evidence after {} s", waiting_,
                     evidence_.size(), seconds(patience_.start));
}

}  // namespace symmcts::launch

#include "harness/platform/model/multicast_team.hpp"

#include <algorithm>
#include <tuple>

namespace symmcts::platform {

Code MulticastTeam::add(int gpu, Ns now) {
  if (has(gpu) || gathered()) return Code::invalid_value;
  gpus_.insert(std::lower_bound(gpus_.begin(), gpus_.end(), gpu), gpu);
  gathered_at_ = std::max(gathered_at_, now);
  return Code::success;
}

bool MulticastTeam::has(int gpu) const {
  return std::binary_search(gpus_.begin(), gpus_.end(), gpu);
}

bool MulticastTeam::bind(const Replica& range) {
  const bool occupied = std::any_of(bound_.begin(), bound_.end(), [&](const Replica& other) {
    return other.gpu == range.gpu && other.mc_offset < range.mc_offset + range.size &&
           range.mc_offset < other.mc_offset + other.size;
  });
  if (occupied) return false;
  const auto before = [](const Replica& a, const Replica& b) {
    return std::tie(a.gpu, a.mc_offset) < std::tie(b.gpu, b.mc_offset);
  };
  bound_.insert(std::upper_bound(bound_.begin(), bound_.end(), range, before), range);
  return true;
}

bool MulticastTeam::unbind(int gpu, std::uint64_t mc_offset, std::uint64_t size) {
  return std::erase_if(bound_, [&](const Replica& range) {
           return range.gpu == gpu && range.mc_offset == mc_offset && range.size == size;
         }) != 0;
}

std::uint64_t MulticastTeam::bound_at(int gpu, std::uint64_t mc_offset) const {
  for (const Replica& range : bound_) {
    if (range.gpu == gpu && range.mc_offset == mc_offset) return range.size;
  }
  return 0;
}

bool MulticastTeam::detach(std::uint64_t allocation) {
  return std::erase_if(bound_,
                       [&](const Replica& range) { return range.allocation == allocation; }) != 0;
}

}  // namespace symmcts::platform

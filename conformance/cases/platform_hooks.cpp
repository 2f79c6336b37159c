#include "conformance/cases/platform_hooks.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace symmcts::cases {
namespace {

template <typename Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

PlatformHooks::PlatformHooks() {
  find(managed_, "symmcts_platform_managed");
  find(message_out_, "symmcts_platform_message_out");
  find(phase_, "symmcts_platform_phase");
  find(wait_begin_, "symmcts_platform_wait_begin");
  find(wait_end_, "symmcts_platform_wait_end");
}

void PlatformHooks::managed() const {
  if (managed_ != nullptr) managed_();
}

void PlatformHooks::phase(const char* name) const {
  if (phase_ != nullptr) phase_(name);
}

std::uint64_t PlatformHooks::leaving(int to) {
  return message_out_ != nullptr ? message_out_(to) : 0;
}

int PlatformHooks::wait_begins(std::chrono::nanoseconds deadline) {
  if (wait_begin_ == nullptr) return -1;
  return wait_begin_(static_cast<std::uint64_t>(std::max<std::int64_t>(deadline.count(), 0)));
}

bool PlatformHooks::wait_ends(std::span<const std::uint64_t> values) {
  return wait_end_ != nullptr && wait_end_(values.data(), values.size()) != 0;
}

}  // namespace symmcts::cases

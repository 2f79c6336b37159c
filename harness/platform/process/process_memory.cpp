#include "harness/platform/process/process_memory.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <utility>

namespace symmcts::platform {

std::unique_ptr<Memory> Memory::make(Client& client, const Profile& profile, HostClock& clock,
                                     std::vector<int> visible) {
  return std::make_unique<ProcessMemory>(client, profile, clock, std::move(visible));
}

ProcessMemory::ProcessMemory(Client& client, const Profile& profile, HostClock& clock,
                             std::vector<int> visible)
    : client_(client),
      profile_(profile),
      clock_(clock),
      visible_(std::move(visible)),
      replicas_(client, files_),
      space_(profile.granularity.value) {}

Code ProcessMemory::gated(const char* function, std::uint64_t handle, const GatedCall& call) {
  return gated_by([&](CallTime& time) { client_.before(time, function, handle); }, function, handle,
                  call);
}

Code ProcessMemory::gated_by(const std::function<void(CallTime&)>& gate, const char* function,
                             std::uint64_t handle, const GatedCall& call) {
  CallTime time;
  time.now = time.at = clock_.now();
  clock_.enter_blocking(function);
  gate(time);
  time.now = std::max(time.now, time.at);
  const Code code = call(time, handle);
  time.now = std::max(time.now, time.at);
  if (code == Code::success) client_.passed(time, function, handle);
  clock_.leave_blocking(std::max(time.now, time.at));
  return code;
}

Code ProcessMemory::timed(const char* function, const std::function<Code(CallTime&)>& call) {
  CallTime time;
  time.now = time.at = clock_.now();
  clock_.enter_blocking(function);
  const Code code = call(time);
  clock_.leave_blocking(std::max(time.now, time.at));
  return code;
}

Code ProcessMemory::refuse(const char* function, AppHandle handle) {
  Misuse misuse;
  misuse.kind = "garbage-handle";
  {
    std::lock_guard lock(mutex_);
    if (handles_.given(handle)) misuse.kind = "use-after-release";
  }
  const bool releases = std::string_view(function) == "cuMemRelease";
  if (releases && misuse.kind == "use-after-release") misuse.kind = "double-release";
  misuse.what = "physical handle";
  misuse.call = function;
  misuse.at = clock_.now();
  std::fprintf(stderr,
               "symm-cts platform: rank %d: %s: %s: this process holds no handle 0x%" PRIx64
               "; a real driver crashes here\n",
               client_.machine().rank, misuse_text(misuse).c_str(), function, handle);
  client_.misused(misuse);
  return Code::invalid_value;
}

std::shared_ptr<Handle> ProcessMemory::find_handle(AppHandle handle) {
  std::lock_guard lock(mutex_);
  return handles_.find(handle);
}

bool ProcessMemory::visible(int ordinal) const {
  return ordinal >= 0 && static_cast<std::size_t>(ordinal) < visible_.size();
}

int ProcessMemory::ordinal_of(int gpu) const {
  const auto at = std::find(visible_.begin(), visible_.end(), gpu);
  return at == visible_.end() ? -1 : static_cast<int>(at - visible_.begin());
}

}  // namespace symmcts::platform

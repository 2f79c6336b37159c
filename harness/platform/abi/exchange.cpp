#include "harness/platform/abi/exchange.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "harness/platform/abi/faults.hpp"
#include "harness/platform/abi/runtime.hpp"
#include "harness/platform/abi/symmcts_platform.h"

#define SYMMCTS_EXPORT extern "C" __attribute__((visibility("default")))

namespace symmcts::platform::abi {
namespace {

static_assert(kLastResort == SYMMCTS_PLATFORM_LAST_RESORT_NS);

struct Early {
  std::mutex mutex;
  bool managed = false;
  std::vector<int> out;           // the receivers of the messages sent
  std::vector<std::uint64_t> in;  // the stamps of the messages taken in
};

Early& early() {
  static Early state;
  return state;
}

}  // namespace

bool exchange_managed() {
  const std::lock_guard lock(early().mutex);
  return early().managed;
}

void exchange_catch_up(Streams& streams) {
  const std::lock_guard lock(early().mutex);
  if (early().managed) streams.managed();
  for (const int to : early().out) streams.message_out(to);
  early().out.clear();
  if (early().in.empty()) return;
  streams.wait_begin(0);
  streams.wait_end(early().in.data(), early().in.size());
  early().in.clear();
}

}  // namespace symmcts::platform::abi

using symmcts::platform::abi::Runtime;

SYMMCTS_EXPORT int symmcts_platform_abi(void) { return 1; }

SYMMCTS_EXPORT void symmcts_platform_managed(void) {
  auto& early = symmcts::platform::abi::early();
  const std::lock_guard lock(early.mutex);
  early.managed = true;
  if (Runtime* runtime = Runtime::get()) runtime->streams->managed();
}

SYMMCTS_EXPORT uint64_t symmcts_platform_message_out(int to_rank) {
  if (Runtime* runtime = Runtime::get()) return runtime->streams->message_out(to_rank);
  auto& early = symmcts::platform::abi::early();
  const std::lock_guard lock(early.mutex);
  early.out.push_back(to_rank);
  return 0;
}

SYMMCTS_EXPORT int symmcts_platform_wait_begin(uint64_t deadline_ns) {
  Runtime* runtime = Runtime::get();
  return runtime == nullptr ? -1 : runtime->streams->wait_begin(deadline_ns);
}

SYMMCTS_EXPORT int symmcts_platform_wait_end(const uint64_t* stamps, size_t count) {
  if (Runtime* runtime = Runtime::get()) return runtime->streams->wait_end(stamps, count) ? 1 : 0;
  auto& early = symmcts::platform::abi::early();
  const std::lock_guard lock(early.mutex);
  early.in.insert(early.in.end(), stamps, stamps + count);
  return 0;
}

SYMMCTS_EXPORT void symmcts_platform_phase(const char* phase) {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr || phase == nullptr || !runtime->faults->any()) return;
  symmcts::platform::abi::befall_phase(*runtime, phase);
}

SYMMCTS_EXPORT size_t symmcts_platform_info(char* buffer, size_t capacity) {
  std::string text = "{\"started\":false}";
  if (const Runtime* runtime = Runtime::get()) {
    const auto& machine = runtime->client->machine();
    text = "{\"started\":true,\"profile\":\"" + machine.profile_name +
           "\",\"seed\":" + std::to_string(machine.seed) +
           ",\"host\":" + std::to_string(machine.host) +
           ",\"rank\":" + std::to_string(machine.rank) +
           ",\"deterministic\":" + (runtime->client->deterministic() ? "true" : "false") + "}";
  }
  if (buffer != nullptr && capacity > 0) std::snprintf(buffer, capacity, "%s", text.c_str());
  return text.size();
}

SYMMCTS_EXPORT uint64_t symmcts_platform_memory_used(int gpu) {
  std::uint64_t bytes = 0;
  if (Runtime* runtime = Runtime::get()) runtime->memory->used(runtime->ordinal_of(gpu), bytes);
  return bytes;
}

#include "harness/platform/abi/misuse.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "harness/platform/abi/runtime.hpp"

namespace symmcts::platform::abi {
namespace {

thread_local const char* in_progress = nullptr;

std::string rank_text(const Runtime& runtime) {
  return "rank " + std::to_string(runtime.client->machine().rank) + ": ";
}

// When everything of the program has ended that could still give something up: a library's
// destructors run after those of whatever was linked against it. A process that is killed or calls
// _exit says nothing.
__attribute__((destructor)) void report_what_is_left() {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr) return;
  std::vector<Misuse> left = runtime->memory->left();
  std::vector<Birth> streams;
  for (const auto& [stream, birth] : runtime->stream_handles.born()) {
    if (!stream->of_thread) streams.push_back(birth);
  }
  add_left("stream", streams, left);
  std::vector<Birth> events;
  for (const auto& [event, birth] : runtime->events.born()) events.push_back(birth);
  add_left("event", events, left);
  for (const Misuse& misuse : left) {
    say(rank_text(*runtime) + misuse_text(misuse));
    runtime->client->misused(misuse);
  }
  runtime->streams->stopped();
}

}  // namespace

const char* enter_function(const char* api) { return std::exchange(in_progress, api); }

void leave_function(const char* around) { in_progress = around; }

Birth birth_in_this_call() {
  const Runtime* runtime = Runtime::get();
  return {in_progress == nullptr ? "" : in_progress,
          runtime == nullptr ? 0 : runtime->streams->now()};
}

void report_missing(const char* what, std::uintptr_t handle, bool given, bool releasing) {
  Runtime* runtime = Runtime::get();
  if (runtime == nullptr || in_progress == nullptr || handle == 0) return;
  Misuse misuse;
  misuse.kind = !given ? "garbage-handle" : releasing ? "double-release" : "use-after-release";
  misuse.what = what;
  misuse.call = in_progress;
  misuse.at = runtime->streams->now();
  char number[32];
  std::snprintf(number, sizeof number, "0x%" PRIxPTR, handle);
  say(rank_text(*runtime) + misuse_text(misuse) + " (" + number + "); a real driver crashes here");
  runtime->client->misused(misuse);
}

void add_left(const char* what, const std::vector<Birth>& births, std::vector<Misuse>& out) {
  if (births.empty()) return;
  const auto first = std::min_element(births.begin(), births.end(),
                                      [](const Birth& a, const Birth& b) { return a.at < b.at; });
  out.push_back({"leak", what, first->call, first->at, births.size()});
}

}  // namespace symmcts::platform::abi

// What the library exports: the entry that a CUDA driver calls from cuInit, when
// CUDA_INJECTION64_PATH names the library, and two functions for a program that knows of us.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "harness/permit/driver_kind.hpp"
#include "harness/permit/environment.hpp"
#include "harness/recorder/environment.hpp"
#include "harness/recorder/recorder.hpp"

#define SYMMCTS_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using symmcts::recorder::Recorder;
using symmcts::recorder::running_recorder;

// The exit code of a program that would have ended well without the evidence it was to leave.
constexpr int kLost = 3;

// A program is not stopped because it cannot be watched, but it does not end well either: whoever
// asked for evidence would find none, or half of it, behind a green run. glibc allows exit() here:
// the handlers that are left run, and the process ends with the new code.
void finish_at_exit(int code, void* owner) {
  Recorder* recorder = running_recorder();
  if (recorder == nullptr) return;
  recorder->finish();
  const bool forked = reinterpret_cast<std::intptr_t>(owner) != getpid();
  if (code == 0 && recorder->lost() && !forked) std::exit(kLost);
}

// The driver opens us privately; programs look for the functions below in the global scope.
void make_global() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&make_global), &self) != 0) {
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  }
}

}  // namespace

// Returns 1: a program is not stopped because it cannot be watched. Runs once a process.
SYMMCTS_EXPORT int InitializeInjection() {
  if (running_recorder() != nullptr) return 1;
  // Never deleted: callbacks may come from any thread until the process is gone.
  auto* recorder = new Recorder(symmcts::recorder::read_environment(), symmcts::loaded_driver(),
                                symmcts::read_permit_environment());
  symmcts::recorder::set_running_recorder(recorder);
  recorder->start();
  make_global();
  on_exit(finish_at_exit, reinterpret_cast<void*>(static_cast<std::intptr_t>(getpid())));
  return 1;
}

// Writes a mark line: the keys of the JSON object, with its type and the present time.
SYMMCTS_EXPORT void symmcts_recorder_mark(const char* json_object) {
  Recorder* recorder = running_recorder();
  if (recorder != nullptr && json_object != nullptr) recorder->mark(json_object);
}

// Writes the records of all device work that has ended. Returns 1 if everything so far is in the
// evidence, 0 if nothing is recorded or something was lost.
SYMMCTS_EXPORT int symmcts_recorder_flush() {
  Recorder* recorder = running_recorder();
  return recorder != nullptr && recorder->flush() ? 1 : 0;
}

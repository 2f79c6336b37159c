#include "harness/platform/nvml/call.hpp"

#include <cstdio>
#include <mutex>

namespace symmcts::platform::nvml {
namespace {

// The run context: begun and ended by the client's own init and shutdown.
struct Run {
  std::mutex mutex;
  int begun = 0;
  std::shared_ptr<const World> world;
};

Run& run() {
  static Run* const the = new Run;  // calls may come as late as the client's exit handlers
  return *the;
}

}  // namespace

Return begin() {
  const std::lock_guard lock(run().mutex);
  if (!run().world) {
    auto environment = read_environment();
    if (!environment) {
      say("nvmlInit: " + environment.error());
      return Return::driver_not_loaded;
    }
    auto found = World::look(std::move(environment.value()));
    if (!found) {
      say("nvmlInit: " + found.error());
      return Return::driver_not_loaded;
    }
    run().world = std::move(found.value());
  }
  ++run().begun;
  return Return::success;
}

Return end() {
  const std::lock_guard lock(run().mutex);
  if (run().begun == 0) return Return::uninitialized;
  if (--run().begun == 0) run().world.reset();
  return Return::success;
}

std::shared_ptr<const World> world() {
  const std::lock_guard lock(run().mutex);
  return run().world;
}

void say(const std::string& line) { std::fprintf(stderr, "symm-cts platform: %s\n", line.c_str()); }

Return not_modelled(const char* function, bool& told) {
  const std::lock_guard lock(run().mutex);
  if (!told) say(std::string(function) + " is not modelled: NOT_SUPPORTED");
  told = true;
  return Return::not_supported;
}

Return give_text(std::string_view text, char* out, unsigned length) {
  if (out == nullptr) return Return::invalid_argument;
  if (text.size() >= length) return Return::insufficient_size;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return Return::success;
}

}  // namespace symmcts::platform::nvml

#include <dlfcn.h>

#include <cstdarg>
#include <cstdio>

#include "harness/platform/abi/cupti/cupti_state.hpp"
#include "harness/support/printable.hpp"

namespace symmcts::platform::cupti {
namespace {

const abi::DriverLink* find_driver() {
  // By soname: the library that the process has loaded already, from wherever that was.
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    say("%s", dlerror());
    return nullptr;
  }
  auto* link =
      reinterpret_cast<const abi::DriverLink* (*)()>(dlsym(library, "symmcts_driver_link"));
  if (link == nullptr || link()->version != abi::kCuptiLinkVersion) {
    say("the libcuda.so.1 of this process is not the software platform of this build");
    return nullptr;
  }
  link()->attach(&kHooks);
  return link();
}

}  // namespace

const abi::DriverLink* driver() {
  static const abi::DriverLink* const found = find_driver();
  return found;
}

void say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "symm-cts platform (CUPTI): %s\n", printable(line).c_str());
}

CUptiResult refuse(const char* name, std::atomic<bool>& told) {
  if (!told.exchange(true)) say("%s is not modelled", name);
  return CUPTI_ERROR_NOT_SUPPORTED;
}

}  // namespace symmcts::platform::cupti

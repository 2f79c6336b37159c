#include "tests/fuzz/driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace symmcts::fuzz {
namespace {

[[noreturn]] void refuse(const char* path, const char* why) {
  std::fprintf(stderr, "fuzz: %s: %s; nothing was called\n", path, why);
  std::exit(3);
}

// The object that holds `address`, or null.
const void* home(const void* address) {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

template <typename Function>
void find(void* library, const char* path, const char* name, Function& out) {
  void* address = dlsym(library, name);
  if (address == nullptr) refuse(path, name);
  out = reinterpret_cast<Function>(address);
}

}  // namespace

// Two levels, so that cuda.h's macros are replaced before the name becomes text.
#define SYMMCTS_FUZZ_TEXT_OF(name) #name
#define SYMMCTS_FUZZ_TEXT(name) SYMMCTS_FUZZ_TEXT_OF(name)

const Driver& open_driver(const char* path) {
  static Driver driver;
  if (path[0] != '/') refuse(path, "not an absolute path");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, "cannot be opened");
  const void* marker = home(dlsym(library, "symmcts_platform_abi"));
  if (marker == nullptr || marker != home(dlsym(library, "cuMulticastCreate"))) {
    refuse(path, "no symmcts_platform_abi beside cuMulticastCreate: not the software platform");
  }
#define SYMMCTS_FUZZ_FIND(name) find(library, path, SYMMCTS_FUZZ_TEXT(name), driver.name);
  SYMMCTS_FUZZ_FUNCTIONS(SYMMCTS_FUZZ_FIND)
#undef SYMMCTS_FUZZ_FIND
  find(library, path, "symmcts_platform_managed", driver.managed);
  find(library, path, "symmcts_platform_message_out", driver.message_out);
  find(library, path, "symmcts_platform_wait_begin", driver.wait_begin);
  find(library, path, "symmcts_platform_wait_end", driver.wait_end);
  return driver;
}

}  // namespace symmcts::fuzz

#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// Access to the platform's libcuda.so.1 for unit tests: opened by absolute path, and used only if
// the object that holds cuMulticastCreate carries the platform's marker. A test never links a
// driver, so that it cannot reach a real one.
namespace symmcts::platform::abi::test {

inline void* open_platform(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* create = library == nullptr ? nullptr : dlsym(library, "cuMulticastCreate");
  void* marker = library == nullptr ? nullptr : dlsym(library, "symmcts_platform_abi");
  Dl_info of_create{}, of_marker{};
  if (create == nullptr || marker == nullptr || dladdr(create, &of_create) == 0 ||
      dladdr(marker, &of_marker) == 0 || of_create.dli_fbase != of_marker.dli_fbase) {
    std::fprintf(stderr, "%s: not the software platform; nothing was called\n", path);
    std::exit(3);
  }
  return library;
}

}  // namespace symmcts::platform::abi::test

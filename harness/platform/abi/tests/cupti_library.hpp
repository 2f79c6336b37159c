#pragma once

#include <cupti.h>

#include <cstdio>
#include <cstdlib>

#include "harness/platform/abi/tests/world.hpp"

namespace symmcts::platform::abi::test {

// Our libcupti.so.13, by absolute path, after the platform's libcuda.so.1: it finds that one by
// soname, as in every process.
inline void* cupti_library() {
  static void* const opened = [] {
    library();
    void* handle = dlopen(SYMMCTS_PLATFORM_LIBCUPTI, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(3);
    }
    return handle;
  }();
  return opened;
}

}  // namespace symmcts::platform::abi::test

#define CUPTI(name)                     \
  (reinterpret_cast<decltype(&::name)>( \
      ::dlsym(::symmcts::platform::abi::test::cupti_library(), #name)))
#define EXPECT_CUPTI(expression) EXPECT_EQ(expression, CUPTI_SUCCESS)

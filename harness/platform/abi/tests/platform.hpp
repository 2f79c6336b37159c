#pragma once

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstring>

#include "harness/platform/abi/tests/open_platform.hpp"

namespace symmcts::platform::abi::test {

inline void* library() {
  static void* const opened = open_platform(SYMMCTS_PLATFORM_LIBCUDA);
  return opened;
}

template <typename Function>
Function find(const char* elf) {
  void* address = dlsym(library(), elf);
  if (address == nullptr) {
    std::fprintf(stderr, "%s is not exported\n", elf);
    std::exit(3);
  }
  return reinterpret_cast<Function>(address);
}

}  // namespace symmcts::platform::abi::test

// The function with exactly this ELF name, with the signature that cuda.h gives it.
#define CU(elf) (::symmcts::platform::abi::test::find<decltype(&::elf)>(#elf))

#define EXPECT_CU(expression) EXPECT_EQ(expression, CUDA_SUCCESS)
#define ASSERT_CU(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

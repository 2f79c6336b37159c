// Starts the platform as the environment says and prints what it sees, for start_test.
// Usage: start_client PLATFORM/libcuda.so.1
#include <cuda.h>

#include <cstdio>

#include "harness/platform/abi/symmcts_platform.h"
#include "harness/platform/abi/tests/open_platform.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* driver = symmcts::platform::abi::test::open_platform(argv[1]);
  const auto find = [&](const char* name) { return dlsym(driver, name); };
  const CUresult started = reinterpret_cast<decltype(&cuInit)>(find("cuInit"))(0);
  int count = -1;
  reinterpret_cast<decltype(&cuDeviceGetCount)>(find("cuDeviceGetCount"))(&count);
  std::printf("init %d devices %d\n", static_cast<int>(started), count);
  for (int device = 0; device < count; ++device) {
    char bus[16] = {};
    reinterpret_cast<decltype(&cuDeviceGetPCIBusId)>(find("cuDeviceGetPCIBusId"))(bus, sizeof bus,
                                                                                  device);
    std::printf("device %d %s\n", device, bus);
  }
  char info[256] = {};
  reinterpret_cast<decltype(&symmcts_platform_info)>(find("symmcts_platform_info"))(info,
                                                                                    sizeof info);
  std::printf("info %s\n", info);
  return 0;
}

// A CUPTI client as any other: linked against a libcupti.so.13, which the dynamic linker finds
// through LD_LIBRARY_PATH. Built twice: against the genuine library and against ours.
// Usage: cupti_client PLATFORM/libcuda.so.1. Exits 0 when our CUPTI has served it.
#include <cupti.h>

#include <cstdio>
#include <string>

#include "harness/platform/abi/tests/open_platform.hpp"

namespace {

int callbacks = 0;

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  ++callbacks;
}

std::string folder_of(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0) return "?";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/'));
}

bool check(bool right, const char* what) {
  if (!right) std::fprintf(stderr, "cupti_client: %s\n", what);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* driver = symmcts::platform::abi::test::open_platform(argv[1]);
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  const auto folder = folder_of(reinterpret_cast<void*>(init));
  bool right = check(folder_of(reinterpret_cast<void*>(&cuptiGetVersion)) == folder,
                     "another libcupti.so.13 than the platform's was loaded");
  if (!right) return 1;
  std::uint32_t version = 0;
  CUpti_SubscriberHandle subscriber = nullptr;
  right &= check(cuptiGetVersion(&version) == CUPTI_SUCCESS && version == CUPTI_API_VERSION,
                 "the version is not the headers'");
  right &= check(cuptiSubscribe(&subscriber, on_callback, nullptr) == CUPTI_SUCCESS, "subscribe");
  right &= check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS,
                 "enable the driver domain");
  right &= check(init(0) == CUDA_SUCCESS, "cuInit");
  right &= check(callbacks == 2, "cuInit raised other than two callbacks");
  right &= check(cuptiUnsubscribe(subscriber) == CUPTI_SUCCESS, "unsubscribe");
  if (right) std::printf("served by %s\n", folder.c_str());
  return right ? 0 : 1;
}

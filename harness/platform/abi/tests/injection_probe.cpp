// An injection library that subscribes and calls the driver while cuInit is still under way, as
// recorders do. PROBE_ANSWER is what InitializeInjection returns.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {
void CUPTIAPI on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  CUpti_SubscriberHandle subscriber = nullptr;
  const CUptiResult subscribed = cuptiSubscribe(&subscriber, on_callback, nullptr);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int count = -1;
  if (driver != nullptr) {
    reinterpret_cast<CUresult (*)(unsigned)>(dlsym(driver, "cuInit"))(0);
    reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDeviceGetCount"))(&count);
  }
  std::printf("injected: subscribe %d devices %d\n", static_cast<int>(subscribed), count);
  std::fflush(stdout);
  const char* answer = std::getenv("PROBE_ANSWER");
  return answer == nullptr ? 1 : std::atoi(answer);
}

// A libcuda.so.1 that loads the injection library from cuInit, as drivers do, and reports a few
// calls through the fake CUPTI. With FAKE_SOFTWARE it carries the platform's marker; without, its
// cuMulticastCreate stands for what must never run on a real driver: it exits with 99.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/recorder/tests/fake_cupti.hpp"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

void report(CUpti_ApiCallbackSite site, CUpti_CallbackId id, const char* name, const void* params,
            CUresult* result) {
  void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (cupti == nullptr) return;
  const auto call = reinterpret_cast<FakeCuptiCall>(dlsym(cupti, "fake_cupti_call"));
  call(site, id, name, params, result);
  dlclose(cupti);
}

}  // namespace

FAKE_EXPORT CUresult cuInit(unsigned) {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return CUDA_SUCCESS;
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return CUDA_ERROR_UNKNOWN;
  }
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return start() != 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

FAKE_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                                 const CUmemAllocationProp* prop, unsigned long long flags) {
  const cuMemCreate_params params{handle, size, prop, flags};
  CUresult result = CUDA_SUCCESS;
  report(CUPTI_API_ENTER, CUPTI_DRIVER_TRACE_CBID_cuMemCreate, "cuMemCreate", &params, &result);
  *handle = 0x900;
  report(CUPTI_API_EXIT, CUPTI_DRIVER_TRACE_CBID_cuMemCreate, "cuMemCreate", &params, &result);
  return result;
}

FAKE_EXPORT CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                                       const CUmulticastObjectProp* prop) {
  const cuMulticastCreate_params params{handle, prop};
  CUresult result = CUDA_SUCCESS;
  const auto id = CUPTI_DRIVER_TRACE_CBID_cuMulticastCreate;
  report(CUPTI_API_ENTER, id, "cuMulticastCreate", &params, &result);
#ifdef FAKE_SOFTWARE
  *handle = 0x901;
#else
  _exit(99);
#endif
  report(CUPTI_API_EXIT, id, "cuMulticastCreate", &params, &result);
  return result;
}

FAKE_EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

#ifdef FAKE_SOFTWARE
FAKE_EXPORT int symmcts_platform_abi() { return 1; }

FAKE_EXPORT std::size_t symmcts_platform_info(char* buffer, std::size_t capacity) {
  constexpr const char* kInfo = R"({"profile":"fake","seed":7,"deterministic":true})";
  if (buffer != nullptr && capacity > 0) std::snprintf(buffer, capacity, "%s", kInfo);
  return std::strlen(kInfo);
}
#endif

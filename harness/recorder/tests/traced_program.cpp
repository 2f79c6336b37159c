// A program under the recorder: opens the driver given as its first argument and does what the
// others say: memory, multicast, mark, crash.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

namespace {

template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 90;
  void* driver = dlopen(argv[1], RTLD_NOW);
  if (driver == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 91;
  }
  if (find<decltype(cuInit)>(driver, "cuInit")(0) != CUDA_SUCCESS) return 92;
  CUmemGenericAllocationHandle handle = 0;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "memory") == 0) {
      CUmemAllocationProp prop{};
      prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      find<decltype(cuMemCreate)>(driver, "cuMemCreate")(&handle, 4096, &prop, 0);
    } else if (std::strcmp(argv[i], "multicast") == 0) {
      CUmulticastObjectProp prop{};
      prop.numDevices = 2;
      find<decltype(cuMulticastCreate)>(driver, "cuMulticastCreate")(&handle, &prop);
    } else if (std::strcmp(argv[i], "mark") == 0) {
      void* mark = dlsym(RTLD_DEFAULT, "symmcts_recorder_mark");
      if (mark == nullptr) return 93;
      reinterpret_cast<void (*)(const char*)>(mark)(R"({"what":"phase","phase":"bind"})");
    } else if (std::strcmp(argv[i], "crash") == 0) {
      kill(getpid(), SIGKILL);
    }
  }
  return 0;
}

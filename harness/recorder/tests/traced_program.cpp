// A program under the recorder: opens the driver given as its first argument and does what the
// others say: memory, multicast, mark, limit (of what a file may hold), fail, crash.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/resource.h>
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
    } else if (std::strcmp(argv[i], "limit") == 0) {
      const rlimit few{700, 700};
      if (setrlimit(RLIMIT_FSIZE, &few) != 0 || std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 94;
    } else if (std::strcmp(argv[i], "fail") == 0) {
      return 7;
    } else if (std::strcmp(argv[i], "crash") == 0) {
      kill(getpid(), SIGKILL);
    }
  }
  return 0;
}

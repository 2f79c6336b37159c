// A stand-in for libcuda.so.1 with just enough to be classified. With FAKE_SOFTWARE it exports the
// platform's marker, else it looks like a real driver. Its cuMulticastCreate must never run: it
// ends the process with a code that no refusal uses.
#include <unistd.h>

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int cuMulticastCreate(void*, const void*) { _exit(99); }
FAKE_EXPORT int cuInit(unsigned) { _exit(98); }

#ifdef FAKE_SOFTWARE
FAKE_EXPORT int symmcts_platform_abi() { return 1; }
#endif

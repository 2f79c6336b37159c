/* A libcuda.so.1 without the platform's marker, for the tests of refusals: stands for a real
 * driver. A refusing program calls nothing of it. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int cuMulticastCreate(void) {
  fprintf(stderr, "cuMulticastCreate of the foreign driver was called\n");
  abort();
}

__attribute__((visibility("default"))) int cuInit(unsigned flags) {
  fprintf(stderr, "cuInit(%u) of the foreign driver was called\n", flags);
  abort();
}

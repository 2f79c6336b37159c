/* A program that knows nothing of this project: includes cuda.h, links a stub libcuda.so, and finds its
 * driver when it starts, where LD_LIBRARY_PATH says. Run only on the software platform: it refuses
 * every other driver before cuInit.
 *
 * Maps memory twice through a descriptor, fills it through one mapping and reads it through the other;
 * then the same through a multicast object of two devices. Exits 0, 1 for a failure, 3 for a refusal.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = "?";
  cuGetErrorName(result, &name);
  fprintf(stderr, "stub_client: %s: %s\n", call, name);
  exit(1);
}
#define MUST(call) must(call, #call)

/* The marker must lie in the very object that the call would reach. */
static void refuse_other_drivers(void) {
  Dl_info driver, marker;
  void* symbol = dlsym(RTLD_DEFAULT, "symmcts_platform_abi");
  if (symbol != NULL && dladdr(symbol, &marker) != 0 &&
      dladdr((void*)(uintptr_t)dlsym(RTLD_DEFAULT, "cuMulticastCreate"), &driver) != 0 &&
      marker.dli_fbase == driver.dli_fbase) {
    return;
  }
  fprintf(stderr, "stub_client: not the software platform: nothing was called\n");
  exit(3);
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t size, int devices) {
  CUmemAccessDesc access[2];
  CUdeviceptr at = 0;
  memset(access, 0, sizeof access);
  for (int device = 0; device < devices; ++device) {
    access[device].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[device].location.id = device;
    access[device].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  MUST(cuMemAddressReserve(&at, size, 0, 0, 0));
  MUST(cuMemMap(at, size, 0, handle, 0));
  MUST(cuMemSetAccess(at, size, access, (size_t)devices));
  return at;
}

static CUmemGenericAllocationHandle create(int device, size_t size) {
  CUmemAllocationProp prop;
  CUmemGenericAllocationHandle handle = 0;
  memset(&prop, 0, sizeof prop);
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  MUST(cuMemCreate(&handle, size, &prop, 0));
  return handle;
}

static void unmap(CUdeviceptr at, size_t size) {
  MUST(cuMemUnmap(at, size));
  MUST(cuMemAddressFree(at, size));
}

static void expect(CUdeviceptr at, const char* text) {
  char seen[64] = {0};
  MUST(cuMemcpyDtoH(seen, at, strlen(text)));
  if (strcmp(seen, text) == 0) return;
  fprintf(stderr, "stub_client: '%s' instead of '%s'\n", seen, text);
  exit(1);
}

static void share_by_descriptor(size_t size) {
  const CUmemGenericAllocationHandle native = create(0, size);
  CUmemGenericAllocationHandle imported = 0;
  int fd = -1;
  MUST(cuMemExportToShareableHandle(&fd, native, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  MUST(cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  const CUdeviceptr one = map(native, size, 1), other = map(imported, size, 1);
  MUST(cuMemcpyHtoD(one + 256, "one memory, two mappings", 24));
  expect(other + 256, "one memory, two mappings");
  unmap(one, size);
  unmap(other, size);
  MUST(cuMemRelease(native));
  MUST(cuMemRelease(imported));
}

static void write_to_all(size_t size) {
  CUmulticastObjectProp prop;
  CUmemGenericAllocationHandle team = 0, memory[2];
  CUdeviceptr replica[2];
  memset(&prop, 0, sizeof prop);
  prop.numDevices = 2;
  prop.size = size;
  prop.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  MUST(cuMulticastCreate(&team, &prop));
  for (int device = 0; device < 2; ++device) MUST(cuMulticastAddDevice(team, device));
  for (int device = 0; device < 2; ++device) {
    memory[device] = create(device, size);
    replica[device] = map(memory[device], size, 2);
    MUST(cuMulticastBindMem(team, 0, memory[device], 0, size, 0));
  }
  const CUdeviceptr all = map(team, size, 2);
  MUST(cuMemcpyHtoD(all + 4096, "to both replicas", 16));
  for (int device = 0; device < 2; ++device) expect(replica[device] + 4096, "to both replicas");
  unmap(all, size);
  for (int device = 0; device < 2; ++device) {
    MUST(cuMulticastUnbind(team, device, 0, size));
    unmap(replica[device], size);
    MUST(cuMemRelease(memory[device]));
  }
  MUST(cuMemRelease(team));
}

int main(void) {
  int devices = 0;
  CUcontext context = NULL;
  const size_t size = (size_t)2 << 20;
  refuse_other_drivers();
  MUST(cuInit(0));
  MUST(cuDeviceGetCount(&devices));
  if (devices < 2) {
    fprintf(stderr, "stub_client: %d devices, 2 needed\n", devices);
    return 1;
  }
  MUST(cuDevicePrimaryCtxRetain(&context, 0));
  MUST(cuCtxSetCurrent(context));
  share_by_descriptor(size);
  write_to_all(size);
  MUST(cuDevicePrimaryCtxRelease(0));
  puts("stub_client: served");
  return 0;
}

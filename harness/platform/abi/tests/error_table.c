/* Prints what the driver answers to misuse, one line a case: "name: RESULT [what came out]".
 *
 * The same program runs on hardware, where its output is kept
 * (fixtures/oracles/h200-x2/error-table.txt), and on the software platform, where a test compares. It
 * makes no multicast call, so it may run on any driver. Left out is what a real driver crashes on:
 * garbage and twice-released handles, a device
 * name of length 0, a null batch of memory operations; and a mapping over the end of a reservation,
 * which a real driver accepts (measured). One GPU is enough; the lines about a second one say "no
 * second GPU" where there is none.
 *
 * cc -I<cuda>/include error_table.c -lcuda; ./a.out [SECTION]
 */
#include <cuda.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

static const char* name_of(CUresult result) {
  const char* name = NULL;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS && name != NULL ? name : "?";
}

static void say(const char* what, CUresult result) { printf("%s: %s\n", what, name_of(result)); }
#define SAY(what, call) say(what, call)

/* A step that the rest needs. */
#define NEED(call)                                                       \
  do {                                                                   \
    const CUresult result_ = (call);                                     \
    if (result_ != CUDA_SUCCESS) {                                       \
      fprintf(stderr, "error_table: %s: %s\n", #call, name_of(result_)); \
      exit(3);                                                           \
    }                                                                    \
  } while (0)

static CUmemAllocationProp prop_of(int device, unsigned types) {
  CUmemAllocationProp prop;
  memset(&prop, 0, sizeof prop);
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = (CUmemAllocationHandleType)types;
  return prop;
}

static CUmemAccessDesc access_of(int device, CUmemAccess_flags flags) {
  CUmemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = flags;
  return access;
}

static const unsigned kFd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static void before_init(void) {
  int count = -1;
  CUmemGenericAllocationHandle handle;
  const CUmemAllocationProp prop = prop_of(0, 0);
  CUdeviceptr address = 0;
  CUcontext context = NULL;
  void* function = NULL;
  int version = -1;
  CUdriverProcAddressQueryResult found;
  SAY("before init: cuDeviceGetCount", cuDeviceGetCount(&count));
  SAY("before init: cuMemCreate", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  SAY("before init: cuMemAddressReserve", cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0));
  SAY("before init: cuMemAlloc", cuMemAlloc(&address, 4096));
  SAY("before init: cuCtxGetCurrent", cuCtxGetCurrent(&context));
  SAY("before init: cuDriverGetVersion", cuDriverGetVersion(&version));
  SAY("before init: cuGetProcAddress",
      cuGetProcAddress("cuMemAlloc", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
  SAY("init with flags 1", cuInit(1));
}

static void devices(void) {
  int count = 0, value = 0;
  CUdevice device = 0;
  char name[64];
  size_t bytes = 0;
  CUuuid uuid;
  NEED(cuDeviceGetCount(&count));
  SAY("cuDeviceGet -1", cuDeviceGet(&device, -1));
  SAY("cuDeviceGet count", cuDeviceGet(&device, count));
  SAY("cuDeviceGet null", cuDeviceGet(NULL, 0));
  SAY("cuDeviceGetAttribute of an unknown attribute",
      cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0));
  SAY("cuDeviceGetAttribute of an unknown device",
      cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, count));
  SAY("cuDeviceGetAttribute null",
      cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 0));
  SAY("cuDeviceGetName of an unknown device", cuDeviceGetName(name, sizeof name, count));
  SAY("cuDeviceTotalMem of an unknown device", cuDeviceTotalMem(&bytes, count));
  SAY("cuDeviceGetUuid of an unknown device", cuDeviceGetUuid(&uuid, count));
  SAY("cuDeviceCanAccessPeer with itself", cuDeviceCanAccessPeer(&value, 0, 0));
  printf("cuDeviceCanAccessPeer with itself says %d\n", value);
}

static void contexts(CUcontext* context) {
  CUdevice device = 0;
  CUdeviceptr address = 0;
  CUstream stream = NULL;
  CUevent event = NULL;
  CUcontext popped = NULL;
  unsigned flags = 0;
  int active = -1;
  SAY("no context: cuMemAlloc", cuMemAlloc(&address, 4096));
  SAY("no context: cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  SAY("no context: cuEventCreate", cuEventCreate(&event, CU_EVENT_DEFAULT));
  SAY("no context: cuCtxSynchronize", cuCtxSynchronize());
  SAY("no context: cuCtxGetDevice", cuCtxGetDevice(&device));
  SAY("no context: cuCtxPopCurrent", cuCtxPopCurrent(&popped));
  SAY("no context: cuStreamSynchronize of the default stream", cuStreamSynchronize(NULL));
  SAY("no context: cuMemcpy", cuMemcpy(4096, 8192, 16));
  SAY("cuDevicePrimaryCtxGetState before", cuDevicePrimaryCtxGetState(0, &flags, &active));
  printf("cuDevicePrimaryCtxGetState before says active %d\n", active);
  SAY("cuDevicePrimaryCtxRelease without a retain", cuDevicePrimaryCtxRelease(0));
  NEED(cuDevicePrimaryCtxRetain(context, 0));
  NEED(cuCtxSetCurrent(*context));
  SAY("cuCtxSetCurrent null", cuCtxSetCurrent(NULL));
  NEED(cuCtxSetCurrent(*context));
  SAY("cuCtxEnablePeerAccess of the own context", cuCtxEnablePeerAccess(*context, 0));
  SAY("cuCtxEnablePeerAccess with flags", cuCtxEnablePeerAccess(*context, 1));
  SAY("cuCtxDisablePeerAccess never enabled", cuCtxDisablePeerAccess(*context));
}

static void creation(void) {
  CUmemGenericAllocationHandle handle;
  size_t size = 0;
  CUmemAllocationProp prop = prop_of(0, kFd);
  SAY("create of size 0", cuMemCreate(&handle, 0, &prop, 0));
  SAY("create unaligned", cuMemCreate(&handle, 2 * MIB + 4096, &prop, 0));
  SAY("create with flags", cuMemCreate(&handle, 2 * MIB, &prop, 1));
  SAY("create null handle", cuMemCreate(NULL, 2 * MIB, &prop, 0));
  SAY("create null prop", cuMemCreate(&handle, 2 * MIB, NULL, 0));
  SAY("create of 1 PiB", cuMemCreate(&handle, (size_t)1 << 50, &prop, 0));
  prop.location.id = 1000;
  SAY("create on an unknown device", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop.location.id = -1;
  SAY("create on device -1", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, kFd);
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  SAY("create of type invalid", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, kFd);
  prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  SAY("create at location type invalid", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, 2);
  SAY("create with handle type WIN32", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, 0x40);
  SAY("create with an unknown handle type", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, CU_MEM_HANDLE_TYPE_FABRIC);
  SAY("create FABRIC", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, kFd | CU_MEM_HANDLE_TYPE_FABRIC);
  SAY("create POSIX_FD and FABRIC", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, kFd);
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
  SAY("create HOST with a handle type", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
  SAY("create HOST_NUMA_CURRENT", cuMemCreate(&handle, 2 * MIB, &prop, 0));
  prop = prop_of(0, kFd);
  SAY("granularity with an unknown option",
      cuMemGetAllocationGranularity(&size, &prop, (CUmemAllocationGranularity_flags)7));
  SAY("granularity null",
      cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  SAY("granularity null prop",
      cuMemGetAllocationGranularity(&size, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  prop.location.id = 1000;
  SAY("granularity of an unknown device",
      cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static void reservations(void) {
  CUdeviceptr address = 0, other = 0;
  SAY("reserve of size 0", cuMemAddressReserve(&address, 0, 0, 0, 0));
  SAY("reserve of 4 KiB", cuMemAddressReserve(&address, 4 * KIB, 0, 0, 0));
  SAY("reserve of 1 byte", cuMemAddressReserve(&address, 1, 0, 0, 0));
  SAY("reserve with alignment 3", cuMemAddressReserve(&address, 2 * MIB, 3, 0, 0));
  SAY("reserve with flags", cuMemAddressReserve(&address, 2 * MIB, 0, 0, 1));
  SAY("reserve null", cuMemAddressReserve(NULL, 2 * MIB, 0, 0, 0));
  SAY("reserve with alignment 512 MiB", cuMemAddressReserve(&address, 2 * MIB, 512 * MIB, 0, 0));
  printf("reserve with alignment 512 MiB is aligned: %d\n", address % (512 * MIB) == 0);
  SAY("free of its half", cuMemAddressFree(address, 1 * MIB));
  SAY("free of more", cuMemAddressFree(address, 4 * MIB));
  SAY("free inside", cuMemAddressFree(address + MIB, 1 * MIB));
  SAY("reserve at a hint that is taken", cuMemAddressReserve(&other, 2 * MIB, 0, address, 0));
  printf("reserve at a hint that is taken went elsewhere: %d\n", other != address);
  NEED(cuMemAddressFree(other, 2 * MIB));
  SAY("free", cuMemAddressFree(address, 2 * MIB));
  SAY("free again", cuMemAddressFree(address, 2 * MIB));
  SAY("free of address 0", cuMemAddressFree(0, 2 * MIB));
}

static void mappings(void) {
  const CUmemAllocationProp prop = prop_of(0, kFd);
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address = 0;
  CUmemAccessDesc access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  unsigned long long flags = 77;
  CUmemLocation location;
  memset(&location, 0, sizeof location);
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  NEED(cuMemCreate(&handle, 4 * MIB, &prop, 0));
  NEED(cuMemAddressReserve(&address, 16 * MIB, 0, 0, 0));

  SAY("map of address 0", cuMemMap(0, 4 * MIB, 0, handle, 0));
  SAY("map outside a reservation", cuMemMap(address + 16 * MIB, 4 * MIB, 0, handle, 0));
  SAY("map at an unaligned address", cuMemMap(address + 4096, 4 * MIB, 0, handle, 0));
  SAY("map of an unaligned size", cuMemMap(address, 2 * MIB + 4096, 0, handle, 0));
  SAY("map of size 0", cuMemMap(address, 0, 0, handle, 0));
  SAY("map of half the allocation", cuMemMap(address, 2 * MIB, 0, handle, 0));
  SAY("map of more than the allocation", cuMemMap(address, 8 * MIB, 0, handle, 0));
  SAY("map with an offset", cuMemMap(address, 2 * MIB, 2 * MIB, handle, 0));
  SAY("map with flags", cuMemMap(address, 4 * MIB, 0, handle, 1));
  SAY("set access before map", cuMemSetAccess(address, 4 * MIB, &access, 1));
  SAY("get access before map", cuMemGetAccess(&flags, &location, address));
  SAY("unmap before map", cuMemUnmap(address, 4 * MIB));
  SAY("map", cuMemMap(address, 4 * MIB, 0, handle, 0));
  SAY("map again at the same place", cuMemMap(address, 4 * MIB, 0, handle, 0));
  SAY("map again elsewhere", cuMemMap(address + 8 * MIB, 4 * MIB, 0, handle, 0));
  SAY("memset without access", cuMemsetD8(address, 1, 16));
  SAY("get access of a mapping without any", cuMemGetAccess(&flags, &location, address));
  printf("get access of a mapping without any says %llu\n", flags);
  SAY("set access of an unknown device",
      (access.location.id = 1000, cuMemSetAccess(address, 4 * MIB, &access, 1)));
  access = access_of(0, (CUmemAccess_flags)7);
  SAY("set access with unknown flags", cuMemSetAccess(address, 4 * MIB, &access, 1));
  access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  SAY("set access of count 0", cuMemSetAccess(address, 4 * MIB, &access, 0));
  SAY("set access of null", cuMemSetAccess(address, 4 * MIB, NULL, 1));
  SAY("set access of size 0", cuMemSetAccess(address, 0, &access, 1));
  SAY("set access of a part", cuMemSetAccess(address, 2 * MIB, &access, 1));
  SAY("set access over unmapped space", cuMemSetAccess(address, 8 * MIB, &access, 1));
  SAY("set access at an unaligned address", cuMemSetAccess(address + 4096, 4 * MIB, &access, 1));
  SAY("set access", cuMemSetAccess(address, 4 * MIB, &access, 1));
  SAY("set access again", cuMemSetAccess(address, 4 * MIB, &access, 1));
  NEED(cuMemGetAccess(&flags, &location, address));
  printf("get access after set says %llu\n", flags);
  SAY("memset with access", cuMemsetD8(address, 1, 4 * MIB));
  access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READ);
  SAY("set access read only", cuMemSetAccess(address, 4 * MIB, &access, 1));
  access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  SAY("set access none", cuMemSetAccess(address, 4 * MIB, &access, 1));
  SAY("free of a reservation that is mapped", cuMemAddressFree(address, 16 * MIB));
  SAY("unmap of a part", cuMemUnmap(address, 2 * MIB));
  SAY("unmap of more", cuMemUnmap(address, 8 * MIB));
  SAY("unmap", cuMemUnmap(address, 4 * MIB));
  SAY("unmap again", cuMemUnmap(address, 4 * MIB));
  SAY("release while another mapping lives", cuMemRelease(handle));
  NEED(cuMemUnmap(address + 8 * MIB, 4 * MIB));
  NEED(cuMemAddressFree(address, 16 * MIB));
}

static void sharing(void) {
  const CUmemAllocationProp none = prop_of(0, 0), shareable = prop_of(0, kFd);
  CUmemGenericAllocationHandle plain, native, imported, retained;
  CUmemAllocationProp seen;
  CUmemFabricHandle token;
  CUdeviceptr address = 0;
  int fd = -1, file = -1, pipes[2] = {-1, -1};
  NEED(cuMemCreate(&plain, 2 * MIB, &none, 0));
  NEED(cuMemCreate(&native, 2 * MIB, &shareable, 0));
  memset(&token, 0xff, sizeof token);
  const CUmemAllocationHandleType posix = (CUmemAllocationHandleType)kFd;

  SAY("export of a plain allocation", cuMemExportToShareableHandle(&fd, plain, posix, 0));
  SAY("export as another type",
      cuMemExportToShareableHandle(&token, native, CU_MEM_HANDLE_TYPE_FABRIC, 0));
  SAY("export as type none", cuMemExportToShareableHandle(&fd, native, CU_MEM_HANDLE_TYPE_NONE, 0));
  SAY("export with flags", cuMemExportToShareableHandle(&fd, native, posix, 1));
  SAY("export to null", cuMemExportToShareableHandle(NULL, native, posix, 0));
  SAY("export", cuMemExportToShareableHandle(&fd, native, posix, 0));
  printf("export gives a descriptor that closes on exec: %d\n",
         (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  SAY("import of no descriptor",
      cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)9999, posix));
  SAY("import of descriptor -1",
      cuMemImportFromShareableHandle(&imported, (void*)(intptr_t)-1, posix));
  file = open("/dev/null", O_RDONLY);
  SAY("import of a file", cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)file, posix));
  if (pipe(pipes) == 0) {
    SAY("import of a pipe",
        cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)pipes[0], posix));
    close(pipes[0]);
    close(pipes[1]);
  }
  SAY("import to null", cuMemImportFromShareableHandle(NULL, (void*)(uintptr_t)fd, posix));
  SAY("import as type none",
      cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_NONE));
  SAY("import of a garbage token",
      cuMemImportFromShareableHandle(&imported, &token, CU_MEM_HANDLE_TYPE_FABRIC));
  SAY("import", cuMemImportFromShareableHandle(&imported, (void*)(uintptr_t)fd, posix));
  printf("import gives another handle: %d\n", imported != native);
  SAY("export of an import", cuMemExportToShareableHandle(&fd, imported, posix, 0));
  NEED(cuMemGetAllocationPropertiesFromHandle(&seen, native));
  printf("handle types of the native handle: %d\n", (int)seen.requestedHandleTypes);
  NEED(cuMemGetAllocationPropertiesFromHandle(&seen, imported));
  printf("handle types of the import: %d\n", (int)seen.requestedHandleTypes);
  SAY("properties to null", cuMemGetAllocationPropertiesFromHandle(NULL, native));

  NEED(cuMemAddressReserve(&address, 2 * MIB, 0, 0, 0));
  NEED(cuMemMap(address, 2 * MIB, 0, imported, 0));
  SAY("retain of a mapping", cuMemRetainAllocationHandle(&retained, (void*)address));
  printf("retain gives the handle that was mapped: %d\n", retained == imported);
  NEED(cuMemRelease(retained));
  SAY("retain inside a mapping", cuMemRetainAllocationHandle(&retained, (void*)(address + 4096)));
  NEED(cuMemRelease(retained));
  SAY("retain of no mapping", cuMemRetainAllocationHandle(&retained, (void*)(address + 64 * MIB)));
  SAY("retain of host memory", cuMemRetainAllocationHandle(&retained, &address));
  SAY("retain to null", cuMemRetainAllocationHandle(NULL, (void*)address));
  SAY("release of the native handle", cuMemRelease(native));
  SAY("import after the native release",
      cuMemImportFromShareableHandle(&native, (void*)(uintptr_t)fd, posix));
  NEED(cuMemRelease(native));
  NEED(cuMemRelease(imported));
  SAY("retain of a mapping whose handle is released",
      cuMemRetainAllocationHandle(&retained, (void*)address));
  NEED(cuMemRelease(retained));
  NEED(cuMemUnmap(address, 2 * MIB));
  SAY("import when only the descriptor is left",
      cuMemImportFromShareableHandle(&native, (void*)(uintptr_t)fd, posix));
  NEED(cuMemRelease(native));
  NEED(cuMemAddressFree(address, 2 * MIB));
  NEED(cuMemRelease(plain));
  close(fd);
  close(file);
}

static void pointers(void) {
  CUdeviceptr address = 0, base = 0, reserved = 0;
  size_t size = 0;
  void* host = NULL;
  char* foreign = malloc(MIB);
  int ordinal = -1;
  CUmemorytype type = (CUmemorytype)0;
  NEED(cuMemAlloc(&address, MIB));
  NEED(cuMemAllocHost(&host, MIB));
  NEED(cuMemAddressReserve(&reserved, 2 * MIB, 0, 0, 0));
  SAY("attribute of host memory",
      cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                            (CUdeviceptr)(uintptr_t)foreign));
  SAY("attribute of address 0",
      cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0));
  SAY("attribute of reserved space",
      cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, reserved));
  SAY("unknown attribute", cuPointerGetAttribute(&ordinal, (CUpointer_attribute)1000, address));
  SAY("attribute to null",
      cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  SAY("memory type of device memory",
      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  printf("memory type of device memory says %d\n", (int)type);
  SAY("memory type of pinned memory",
      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host));
  printf("memory type of pinned memory says %d\n", (int)type);
  SAY("address range inside", cuMemGetAddressRange(&base, &size, address + 4096));
  printf("address range inside says base %d size %zu\n", base == address, size);
  SAY("address range of host memory",
      cuMemGetAddressRange(&base, &size, (CUdeviceptr)(uintptr_t)foreign));
  SAY("free inside an allocation", cuMemFree(address + 4096));
  SAY("free of host memory", cuMemFree((CUdeviceptr)(uintptr_t)foreign));
  SAY("free of address 0", cuMemFree(0));
  SAY("cuMemFreeHost of other memory", cuMemFreeHost(foreign));
  SAY("cuMemAlloc of size 0", cuMemAlloc(&base, 0));
  SAY("cuMemAlloc of 1 PiB", cuMemAlloc(&base, (size_t)1 << 50));
  SAY("copy of size 0", cuMemcpy(address, address + 4096, 0));
  SAY("copy beyond an allocation", cuMemcpyHtoD(address + MIB - 16, foreign, 4096 * KIB));
  SAY("copy to address 0", cuMemcpyHtoD(0, foreign, 16));
  SAY("copy to reserved space", cuMemcpyHtoD(reserved, foreign, 16));
  SAY("copy from reserved space", cuMemcpyDtoH(foreign, reserved, 16));
  SAY("memset of reserved space", cuMemsetD8(reserved, 0, 16));
  SAY("memset D32 unaligned", cuMemsetD32(address + 2, 0, 4));
  SAY("memset of count 0", cuMemsetD8(address, 0, 0));
  SAY("register null", cuMemHostRegister(NULL, 4096, 0));
  SAY("register of size 0", cuMemHostRegister(foreign, 0, 0));
  SAY("unregister of what is not", cuMemHostUnregister(foreign));
  SAY("register", cuMemHostRegister(foreign, MIB, 0));
  SAY("register again", cuMemHostRegister(foreign, MIB, 0));
  SAY("unregister inside", cuMemHostUnregister(foreign + 4096));
  SAY("unregister", cuMemHostUnregister(foreign));
  NEED(cuMemAddressFree(reserved, 2 * MIB));
  NEED(cuMemFreeHost(host));
  NEED(cuMemFree(address));
  SAY("free again", cuMemFree(address));
  free(foreign);
}

static void streams_and_events(void) {
  CUstream stream = NULL;
  CUevent event = NULL, second = NULL, untimed = NULL;
  CUdeviceptr word = 0;
  float ms = -1;
  unsigned flags = 0;
  int priority = 0;
  CUstreamBatchMemOpParams op;
  memset(&op, 0, sizeof op);
  SAY("stream with unknown flags", cuStreamCreate(&stream, 0x100));
  SAY("stream to null", cuStreamCreate(NULL, 0));
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuMemAlloc(&word, 4096));
  NEED(cuMemsetD32(word, 0, 1024));
  SAY("flags of a stream", cuStreamGetFlags(stream, &flags));
  printf("flags of a stream say %u\n", flags);
  SAY("priority of a stream", cuStreamGetPriority(stream, &priority));
  SAY("event with unknown flags", cuEventCreate(&event, 0x100));
  SAY("event for interprocess use that is timed", cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  NEED(cuEventCreate(&event, CU_EVENT_DEFAULT));
  NEED(cuEventCreate(&second, CU_EVENT_DEFAULT));
  NEED(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  SAY("query of an event never recorded", cuEventQuery(event));
  SAY("synchronize of an event never recorded", cuEventSynchronize(event));
  SAY("wait for an event never recorded", cuStreamWaitEvent(stream, event, 0));
  SAY("elapsed of events never recorded", cuEventElapsedTime(&ms, event, second));
  NEED(cuEventRecord(event, stream));
  SAY("elapsed of one event recorded", cuEventElapsedTime(&ms, event, second));
  SAY("wait for an event with unknown flags", cuStreamWaitEvent(stream, event, 0x100));
  NEED(cuEventRecord(untimed, stream));
  NEED(cuStreamSynchronize(stream));
  SAY("elapsed of an event without timing", cuEventElapsedTime(&ms, event, untimed));
  SAY("elapsed of an event with itself", cuEventElapsedTime(&ms, event, event));
  SAY("elapsed to null", cuEventElapsedTime(NULL, event, event));
  SAY("write value at an unaligned address", cuStreamWriteValue32(stream, word + 2, 1, 0));
  SAY("write 64 at a 4-byte address", cuStreamWriteValue64(stream, word + 4, 1, 0));
  SAY("write value to address 0", cuStreamWriteValue32(stream, 0, 1, 0));
  SAY("write value with unknown flags", cuStreamWriteValue32(stream, word, 1, 0x100));
  SAY("wait value with unknown flags", cuStreamWaitValue32(stream, word, 0, 0x100));
  SAY("wait value with flush",
      cuStreamWaitValue32(stream, word, 0, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH));
  SAY("wait value GEQ", cuStreamWaitValue32(stream, word, 0, CU_STREAM_WAIT_VALUE_GEQ));
  SAY("wait value NOR", cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_NOR));
  SAY("write value", cuStreamWriteValue32(stream, word, 1, 0));
  SAY("write value without barrier",
      cuStreamWriteValue32(stream, word, 1, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
  SAY("batch of 0 operations", cuStreamBatchMemOp(stream, 0, &op, 0));
  op.operation = (CUstreamBatchMemOpType)99;
  SAY("batch with an unknown operation", cuStreamBatchMemOp(stream, 1, &op, 0));
  memset(&op, 0, sizeof op);
  op.operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
  SAY("batch with a flush", cuStreamBatchMemOp(stream, 1, &op, 0));
  memset(&op, 0, sizeof op);
  op.operation = CU_STREAM_MEM_OP_BARRIER;
  SAY("batch with a barrier", cuStreamBatchMemOp(stream, 1, &op, 0));
  NEED(cuStreamSynchronize(stream));
  SAY("query of an idle stream", cuStreamQuery(stream));
  NEED(cuEventDestroy(event));
  NEED(cuEventDestroy(second));
  NEED(cuEventDestroy(untimed));
  NEED(cuMemFree(word));
  NEED(cuStreamDestroy(stream));
}

static void captures(void) {
  CUstream stream = NULL, other = NULL;
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUevent event = NULL;
  CUdeviceptr memory = 0, fresh = 0;
  size_t nodes = 0;
  NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  NEED(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  NEED(cuMemAlloc(&memory, MIB));
  SAY("capture of the legacy stream", cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY("capture with an unknown mode", cuStreamBeginCapture(stream, (CUstreamCaptureMode)9));
  SAY("end of a capture that never began", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SAY("capture twice", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  NEED(cuMemsetD8Async(memory, 1, 4096, stream));
  SAY("is capturing", cuStreamIsCapturing(stream, &status));
  printf("is capturing says %d\n", (int)status);
  SAY("end of a capture", cuStreamEndCapture(stream, &graph));
  NEED(cuGraphGetNodes(graph, NULL, &nodes));
  printf("the capture has %zu node\n", nodes);
  NEED(cuGraphInstantiate(&exec, graph, 0));
  SAY("launch", cuGraphLaunch(exec, stream));
  NEED(cuStreamSynchronize(stream));
  NEED(cuGraphExecDestroy(exec));
  NEED(cuGraphDestroy(graph));

  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SAY("global capture: synchronize of the stream", cuStreamSynchronize(stream));
  SAY("global capture: after it, is capturing", cuStreamIsCapturing(stream, &status));
  printf("global capture: after it, is capturing says %d\n", (int)status);
  SAY("global capture: end after it", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SAY("global capture: query of another stream", cuStreamQuery(other));
  SAY("global capture: end after it", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SAY("global capture: cuMemAlloc", cuMemAlloc(&fresh, MIB));
  SAY("global capture: end after it", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  SAY("relaxed capture: cuMemAlloc", cuMemAlloc(&fresh, MIB));
  SAY("relaxed capture: end after it", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  SAY("thread capture: cuMemcpy", cuMemcpyDtoD(memory, memory + 4096, 16));
  SAY("thread capture: end after it", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  NEED(cuEventRecord(event, stream));
  NEED(cuStreamWaitEvent(other, event, 0));
  NEED(cuMemsetD8Async(memory, 1, 4096, other));
  SAY("query of a captured event", cuEventQuery(event));
  SAY("end after a query of a captured event", cuStreamEndCapture(stream, &graph));
  NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  NEED(cuEventRecord(event, stream));
  NEED(cuStreamWaitEvent(other, event, 0));
  NEED(cuMemsetD8Async(memory, 1, 4096, other));
  SAY("end with a stream that has not joined", cuStreamEndCapture(stream, &graph));
  NEED(cuEventDestroy(event));
  NEED(cuStreamDestroy(stream));
  NEED(cuStreamDestroy(other));
  NEED(cuMemFree(memory));
}

static void second_gpu(void) {
  CUcontext first = NULL, second = NULL;
  CUdeviceptr here = 0, there = 0;
  int count = 0, can = 0;
  NEED(cuDeviceGetCount(&count));
  if (count < 2) {
    printf("no second GPU\n");
    return;
  }
  NEED(cuCtxGetCurrent(&first));
  NEED(cuDevicePrimaryCtxRetain(&second, 1));
  SAY("can access peer", cuDeviceCanAccessPeer(&can, 0, 1));
  printf("can access peer says %d\n", can);
  NEED(cuMemAlloc(&here, MIB));
  NEED(cuCtxSetCurrent(second));
  NEED(cuMemAlloc(&there, MIB));
  NEED(cuCtxSetCurrent(first));
  SAY("peer copy without access", cuMemcpyPeer(there, second, here, first, MIB));
  SAY("plain copy to a peer without access", cuMemcpyDtoD(there, here, MIB));
  SAY("memset of a peer without access", cuMemsetD8(there, 1, 16));
  SAY("enable peer access", cuCtxEnablePeerAccess(second, 0));
  SAY("enable peer access again", cuCtxEnablePeerAccess(second, 0));
  SAY("plain copy to a peer with access", cuMemcpyDtoD(there, here, MIB));
  SAY("memset of a peer with access", cuMemsetD8(there, 1, 16));
  NEED(cuCtxSynchronize()); /* else the memset fails when it runs */
  SAY("disable peer access", cuCtxDisablePeerAccess(second));
  SAY("disable peer access again", cuCtxDisablePeerAccess(second));
  NEED(cuCtxSetCurrent(second));
  NEED(cuMemFree(there));
  NEED(cuCtxSetCurrent(first));
  NEED(cuMemFree(here));
  NEED(cuDevicePrimaryCtxRelease(1));
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kSections[] = {{"creation", creation}, {"reservations", reservations},
                   {"mappings", mappings}, {"sharing", sharing},
                   {"pointers", pointers}, {"streams", streams_and_events},
                   {"captures", captures}, {"peers", second_gpu}};
  CUcontext context = NULL;
  size_t i = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  before_init();
  NEED(cuInit(0));
  SAY("init again", cuInit(0));
  devices();
  contexts(&context);
  for (i = 0; i < sizeof kSections / sizeof *kSections; ++i) {
    if (argc < 2 || strcmp(argv[1], kSections[i].name) == 0) kSections[i].run();
  }
  SAY("synchronize at the end", cuCtxSynchronize());
  SAY("release of the primary context", cuDevicePrimaryCtxRelease(0));
  return 0;
}

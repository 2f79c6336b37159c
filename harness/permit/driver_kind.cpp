#include "harness/permit/driver_kind.hpp"

#include <dlfcn.h>

namespace symmcts {
namespace {

constexpr const char* kMarker = "symmcts_platform_abi";

// The function of a driver that stands for it.
void* find_entry(void* handle) {
  void* entry = dlsym(handle, "cuMulticastCreate");
  return entry != nullptr ? entry : dlsym(handle, "cuInit");
}

// True if the object mapped at `base` from `path` defines the marker itself. dlsym also searches
// the object's dependencies, hence the comparison: a real driver beside the platform must not pass.
bool object_has_marker(const char* path, const void* base) {
  void* object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return false;
  Dl_info where{};
  void* marker = dlsym(object, kMarker);
  const bool found = marker != nullptr && dladdr(marker, &where) != 0 && where.dli_fbase == base;
  dlclose(object);
  return found;
}

}  // namespace

LoadedDriver classify_driver(const void* multicast_create) {
  LoadedDriver driver;
  if (multicast_create == nullptr) return driver;
  driver.kind = DriverKind::real;
  Dl_info where{};
  if (dladdr(multicast_create, &where) == 0 || where.dli_fname == nullptr) return driver;
  driver.path = where.dli_fname;
  if (object_has_marker(where.dli_fname, where.dli_fbase)) driver.kind = DriverKind::software;
  return driver;
}

LoadedDriver loaded_driver() {
  const LoadedDriver linked = classify_driver(find_entry(RTLD_DEFAULT));
  if (linked.kind == DriverKind::real) return linked;
  void* object = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return linked;
  const LoadedDriver opened = classify_driver(find_entry(object));
  dlclose(object);
  return opened.kind == DriverKind::none ? linked : opened;
}

const char* driver_kind_name(DriverKind kind) {
  switch (kind) {
    case DriverKind::none:
      return "none";
    case DriverKind::software:
      return "software";
    case DriverKind::real:
      break;
  }
  return "real";
}

}  // namespace symmcts

#pragma once

#include <dlfcn.h>

#include <string>

namespace symmcts {

// The folder of the library that `object` lies in, wherever that was loaded from; "." where the
// dynamic linker cannot tell.
inline std::string folder_of_library(const void* object) {
  Dl_info info{};
  if (dladdr(object, &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace symmcts

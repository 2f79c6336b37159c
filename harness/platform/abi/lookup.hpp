#pragma once

#include <cstddef>

namespace symmcts::platform::abi {

// One row of the generated table: an exported function and the CUDA version that brought it.
struct LookupEntry {
  const char* api;
  const char* elf;
  int introduced;
  bool per_thread;
  void (*address)();
};
extern const LookupEntry kLookupTable[];  // sorted by api, introduced, per_thread
extern const std::size_t kLookupTableSize;
extern const int kNewestIntroduction;  // the newest driver version that this library speaks

struct ErrorName {
  int code;
  const char* name;
  const char* words;
};
extern const ErrorName kErrorNames[];
extern const std::size_t kErrorNamesSize;

enum class Found { yes, no_such_name, version_too_low };

// The rule of cuGetProcAddress (cuda.h): the newest function whose introduction is at most
// `version`; with `per_thread` its per-thread variant, where there is one that old.
Found look_up(const char* api, int version, bool per_thread, const LookupEntry*& out);

}  // namespace symmcts::platform::abi

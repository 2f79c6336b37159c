#include "harness/platform/abi/lookup.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// Two versions of a name are variants of one function if their ELF names differ by the suffix.
bool variant_of(const LookupEntry& variant, const LookupEntry& base) {
  const std::string_view name = base.elf;
  const std::string_view longer = variant.elf;
  return longer.starts_with(name) &&
         (longer.substr(name.size()) == "_ptsz" || longer.substr(name.size()) == "_ptds");
}

}  // namespace

Found look_up(const char* api, int version, bool per_thread, const LookupEntry*& out) {
  const LookupEntry* end = kLookupTable + kLookupTableSize;
  const LookupEntry* first = std::lower_bound(
      kLookupTable, end, api,
      [](const LookupEntry& entry, const char* name) { return std::strcmp(entry.api, name) < 0; });
  if (first == end || std::strcmp(first->api, api) != 0) return Found::no_such_name;
  const LookupEntry* newest = nullptr;
  for (const LookupEntry* at = first; at != end && std::strcmp(at->api, api) == 0; ++at) {
    if (!at->per_thread && at->introduced <= version) newest = at;
  }
  if (newest == nullptr) return Found::version_too_low;
  out = newest;
  if (!per_thread) return Found::yes;
  for (const LookupEntry* at = first; at != end && std::strcmp(at->api, api) == 0; ++at) {
    if (at->per_thread && at->introduced <= version && variant_of(*at, *newest)) out = at;
  }
  return Found::yes;
}

// cuda.h:cuGetProcAddress: an unknown name or a version that is too low is success with a null
// pointer, told apart by the status; a version newer than the driver's is INVALID_VALUE.
CUresult cuGetProcAddress_v2(Call&, const char* symbol, void** pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || pfn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pfn = nullptr;
  if (flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  if (version > kNewestIntroduction) return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const LookupEntry* entry = nullptr;
  const Found found = look_up(symbol, version, per_thread, entry);
  if (found == Found::yes) *pfn = reinterpret_cast<void*>(entry->address);
  if (status != nullptr) {
    *status = found == Found::yes            ? CU_GET_PROC_ADDRESS_SUCCESS
              : found == Found::no_such_name ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                             : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  return CUDA_SUCCESS;
}

// The form of CUDA 11.3, without a status: there the result alone can say that nothing was found.
CUresult cuGetProcAddress(Call& call, const char* symbol, void** pfn, int version,
                          cuuint64_t flags) {
  const CUresult result = cuGetProcAddress_v2(call, symbol, pfn, version, flags, nullptr);
  return result == CUDA_SUCCESS && *pfn == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}

// Private tables stay out: they are no public interface.
CUresult cuGetExportTable(Call& call, const void** table, const CUuuid*) {
  static Told told;
  if (table != nullptr) *table = nullptr;
  return call.not_modelled(told, "a private table (the genuine CUDA runtime asks for them)");
}

}  // namespace symmcts::platform::abi

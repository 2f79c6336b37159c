#include <algorithm>

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {
namespace {

// Counts one more of `misuse`, which keeps the call and the time of the one that was made first.
void count(Misuse& misuse, const char* call, Ns at) {
  if (misuse.count++ != 0 && misuse.at <= at) return;
  misuse.call = call;
  misuse.at = at;
}

}  // namespace

std::vector<Misuse> ProcessMemory::left() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  Misuse handles{"leak", "physical handle", "", 0, 0};
  Misuse mappings{"leak", "mapping", "", 0, 0};
  Misuse reservations{"leak", "reservation", "", 0, 0};
  for (const auto& handle : handles_.held()) count(handles, handle->made_by, handle->made_at);
  for (const auto& mapping : mappings_.all()) {
    if (!mapping->allocated && !mapping->pending) count(mappings, "cuMemMap", mapping->made_at);
  }
  for (const auto& [address, at] : reserved_) count(reservations, "cuMemAddressReserve", at);
  std::vector<Misuse> out;
  for (const Misuse& misuse : {handles, mappings, reservations}) {
    if (misuse.count != 0) out.push_back(misuse);
  }
  return out;
}

}  // namespace symmcts::platform

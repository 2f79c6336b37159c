#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "symm_mem/agreement.hpp"
#include "symm_mem/exchange.hpp"
#include "symm_mem/result.hpp"
#include "symm_mem/shareable.hpp"

namespace symm_mem {

// Whether this library may create multicast objects at all. Creating one changes fabric state that
// other users of the host share, so the answer is the caller's, and it is no unless said otherwise.
enum class MulticastPermit : std::uint8_t { never, granted };

// What one rank can do, as far as it can tell by itself. Whether a route works is tried with the
// others (route.hpp), whether multicast does by the first write (Multicast::check_probe): an
// attribute of 1 does not mean that either is usable (nvbandwidth#39, pytorch#177472).
struct Capability {
  CUuuid device{};
  std::uint64_t host = 0;    // equal for processes under one kernel
  std::uint32_t routes = 0;  // bits of Route that are left to try
  // Attribute, and the permit. Under confidential computing the attribute reads 0 and the peers
  // work on (SM-FALL-6, sglang#30364).
  bool multicast = false;
  std::uint64_t memory_granularity = 0;     // bytes
  std::uint64_t multicast_granularity = 0;  // bytes; 0 where there is no multicast
  std::string why_no_multicast;
};

// Asks what `device` is and can do. Local; changes no state. `capability` is written on success.
Status probe_capability(CUdevice device, std::uint32_t allowed_routes, MulticastPermit permit,
                        Capability& capability);

Bytes pack(const Capability& capability);
// False when the record is not one of this version.
bool unpack(const Bytes& record, Capability& capability);

// What the group as a whole will do.
struct Terms {
  Route route = Route::none;
  bool multicast = false;
  std::string why_no_multicast;  // names the rank
  std::size_t granularity = 0;   // larger of both, over all ranks, bytes
};

// The same terms on every rank from the same records: fabric if every rank has it left, else
// descriptors if every rank has them left and all are on one host (SM-FALL-3); multicast only if
// every rank has it (SM-FALL-1). Refuses two ranks on one device (SM-DEV-2: bind would wait for
// ever), known by UUID and not by ordinal (SM-DEV-1, SM-DEV-3, vllm#44556), and a group without a
// common route.
Result<Terms> agree_terms(const Group& group, const std::vector<Capability>& capabilities);

}  // namespace symm_mem

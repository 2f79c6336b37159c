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

// What one rank can do, found by trying rather than by attributes alone: an attribute of 1 does not
// mean that the route works (nvbandwidth#39, pytorch#177472).
struct Capability {
  CUuuid device{};
  std::uint64_t host = 0;                   // equal for processes under one kernel
  std::uint32_t routes = 0;                 // bits of Route that create, export and import
  bool multicast = false;                   // attribute, and the permit
  std::uint64_t memory_granularity = 0;     // bytes
  std::uint64_t multicast_granularity = 0;  // bytes; 0 where there is no multicast
  std::string why_no_multicast;
};

// Probes `device`: creates, exports and imports one granule by each allowed route. Local. Calls no
// multicast function that changes state.
Result<Capability> probe_capability(CUdevice device, std::uint32_t allowed_routes,
                                    MulticastPermit permit);

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

// The same terms on every rank from the same records: fabric if every rank has it, else descriptors
// if every rank has them and all are on one host; multicast only if every rank has it. Refuses two
// ranks on one device (SM-DEV-2: bind would wait for ever) and a group without a common route.
Result<Terms> agree_terms(const Group& group, const std::vector<Capability>& capabilities);

}  // namespace symm_mem

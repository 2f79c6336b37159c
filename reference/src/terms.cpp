#include <algorithm>
#include <cstring>

#include "symm_mem/capability.hpp"
#include "wire.hpp"

namespace symm_mem {
namespace {

constexpr std::uint32_t kCapabilityVersion = 1;

}  // namespace

Bytes pack(const Capability& capability) {
  Writer writer;
  writer.put(kCapabilityVersion);
  writer.put(capability.device);
  writer.put(capability.host);
  writer.put(capability.routes);
  writer.put(static_cast<std::uint8_t>(capability.multicast));
  writer.put(capability.memory_granularity);
  writer.put(capability.multicast_granularity);
  writer.put_text(capability.why_no_multicast);
  return writer.take();
}

bool unpack(const Bytes& record, Capability& capability) {
  Reader reader(record);
  if (reader.get<std::uint32_t>() != kCapabilityVersion) return false;
  capability.device = reader.get<CUuuid>();
  capability.host = reader.get<std::uint64_t>();
  capability.routes = reader.get<std::uint32_t>();
  capability.multicast = reader.get<std::uint8_t>() != 0;
  capability.memory_granularity = reader.get<std::uint64_t>();
  capability.multicast_granularity = reader.get<std::uint64_t>();
  capability.why_no_multicast = reader.get_text();
  return reader.ok();
}

Result<Terms> agree_terms(const Group& group, const std::vector<Capability>& capabilities) {
  const auto refuse = [](int rank, std::string text) {
    return Error{.call = "agree_terms", .rank = rank, .text = std::move(text)};
  };
  Terms terms;
  terms.multicast = group.size() >= 2;  // an object for one device is refused (facts A7.4)
  if (!terms.multicast) terms.why_no_multicast = "a group of one";
  std::uint32_t routes = ~0u;
  bool one_host = true;
  for (std::size_t i = 0; i < capabilities.size(); ++i) {
    const Capability& capability = capabilities[i];
    const int rank = group.members[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (std::memcmp(&capability.device, &capabilities[j].device, sizeof(CUuuid)) == 0) {
        return refuse(rank, "rank " + std::to_string(group.members[j]) + " and rank " +
                                std::to_string(rank) + " are on the same device");
      }
    }
    routes &= capability.routes;
    one_host = one_host && capability.host == capabilities.front().host;
    terms.granularity = std::max<std::size_t>(
        {terms.granularity, capability.memory_granularity, capability.multicast_granularity});
    if (terms.multicast && !capability.multicast) {
      terms.multicast = false;
      terms.why_no_multicast = "rank " + std::to_string(rank) + ": " + capability.why_no_multicast;
    }
  }
  if ((routes & static_cast<std::uint32_t>(Route::fabric)) != 0) {
    terms.route = Route::fabric;
  } else if ((routes & static_cast<std::uint32_t>(Route::posix_fd)) != 0 && one_host) {
    terms.route = Route::posix_fd;
  } else {
    return refuse(-1, one_host
                          ? "no handle type works on every rank"
                          : "the ranks are on several hosts and not all can use fabric handles");
  }
  return terms;
}

}  // namespace symm_mem

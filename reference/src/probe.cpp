// The functional probe of a multicast mapping: the last two steps of establish_multicast.
#include <vector>

#include "own_stream.hpp"
#include "symm_mem/multicast.hpp"

namespace symm_mem {
namespace {

constexpr std::size_t kWords = kProbeBytes / sizeof(std::uint32_t);

// Nothing that memory holds by itself, and different for every rank.
std::uint32_t pattern_of(std::uint32_t member) { return 0x5eed0001u + member; }

}  // namespace

Status Multicast::write_probe() {
  site.enter(Phase::probe);
  const Group& group = site.agreement->group();
  const auto me = static_cast<std::uint32_t>(group.me);
  const CUdeviceptr source = unicast.local.address() + unicast.layout.probe(unicast.layout.ranks);
  const ContextScope scope(site.context, Phase::probe);
  if (!scope.status()) return scope.status();
  const CaptureTolerance tolerance;
  OwnStream stream(Phase::probe);
  Status status = stream.open();
  if (status) {
    status = check(cuMemsetD32Async(source, pattern_of(me), kWords, stream.get()),
                   "cuMemsetD32Async", Phase::probe);
  }
  if (status) {
    status = check(cuMemcpyAsync(range.address() + unicast.layout.probe(me), source, kProbeBytes,
                                 stream.get()),
                   "cuMemcpyAsync", Phase::probe);
  }
  return status ? stream.finish(*site.agreement) : status;
}

Status Multicast::check_probe() {
  const ContextScope scope(site.context, Phase::probe);
  if (!scope.status()) return scope.status();
  const CaptureTolerance tolerance;
  const std::uint32_t ranks = unicast.layout.ranks;
  std::vector<std::uint32_t> seen(kWords * ranks);
  OwnStream stream(Phase::probe);
  Status status = stream.open();
  if (status) {
    status = check(cuMemcpyDtoHAsync(seen.data(), unicast.local.address() + unicast.layout.probe(0),
                                     kProbeBytes * ranks, stream.get()),
                   "cuMemcpyDtoHAsync", Phase::probe);
  }
  if (status) status = stream.finish(*site.agreement);
  for (std::size_t i = 0; i < seen.size() && status; ++i) {
    const auto member = static_cast<std::uint32_t>(i / kWords);
    if (seen[i] == pattern_of(member)) continue;
    status = Error{.call = "multicast probe",
                   .phase = Phase::probe,
                   .text = "what rank " + std::to_string(site.agreement->group().members[member]) +
                           " wrote to the multicast address is not in this rank's replica"};
  }
  return status;
}

}  // namespace symm_mem

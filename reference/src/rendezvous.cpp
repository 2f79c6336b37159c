#include "symm_mem/rendezvous.hpp"

#include "own_stream.hpp"

namespace symm_mem {

Status Unicast::allocate(std::uint64_t bytes) {
  site.enter(Phase::allocate);
  Result<Layout> planned =
      plan_layout(bytes, site.agreement->group().size(), site.terms.granularity,
                  static_cast<std::uint32_t>(site.terms.route));
  if (!planned) return planned.error();
  layout = planned.value();

  const CUmemAllocationProp properties = memory_properties(site.device, site.terms.route);
  CUmemGenericAllocationHandle value = 0;
  const Status status =
      check(cuMemCreate(&value, layout.total, &properties, 0), "cuMemCreate", Phase::allocate);
  if (!status) return status;
  memory = PhysicalHandle(value, Provenance::native);

  Result<MappedRange> mapped =
      MappedRange::map(memory, layout.total, site.terms.granularity, site.device, Phase::allocate);
  if (!mapped) return mapped.error();
  local = mapped.take();
  return {};
}

Status Unicast::zero_pads() {
  const ContextScope scope(site.context, Phase::allocate);
  if (!scope.status()) return scope.status();
  const CaptureTolerance tolerance;
  OwnStream stream(Phase::allocate);
  Status status = stream.open();
  if (!status) return status;
  status = check(cuMemsetD8Async(local.address(), 0, layout.data_offset, stream.get()),
                 "cuMemsetD8Async", Phase::allocate);
  return status ? stream.finish(*site.agreement) : status;
}

Status Unicast::exchange_layout(Status mine) {
  site.enter(Phase::layout);
  const Result<std::vector<Bytes>> records =
      site.agreement->all_gather(Phase::layout, std::move(mine), pack(layout));
  if (!records) return records.error();
  return compare_layouts(site.agreement->group(), records.value());
}

Status Unicast::export_memory() {
  site.enter(Phase::export_memory);
  Result<Shareable> exported = export_handle(memory, site.terms.route, Phase::export_memory);
  if (!exported) return exported.error();
  shared = exported.take();
  return {};
}

Status Unicast::exchange_handles(Status mine) {
  shared.route = site.terms.route;
  Result<std::vector<Shareable>> all =
      all_gather_shareable(*site.agreement, Phase::export_memory, std::move(mine), shared);
  if (!all) return all.error();
  received = all.take();
  return {};
}

Status Unicast::import_peers() {
  site.enter(Phase::import_memory);
  peer_memory.resize(received.size());
  for (std::size_t member = 0; member < received.size(); ++member) {
    if (static_cast<int>(member) == site.agreement->group().me) continue;
    Result<PhysicalHandle> imported = import_handle(received[member], Phase::import_memory);
    if (!imported) return imported.error();
    peer_memory[member] = imported.take();
  }
  received.clear();
  return {};
}

Status Unicast::map_peers() {
  site.enter(Phase::map_peers);
  peers.resize(peer_memory.size());
  for (std::size_t member = 0; member < peer_memory.size(); ++member) {
    if (static_cast<int>(member) == site.agreement->group().me) continue;
    Result<MappedRange> mapped = MappedRange::map(
        peer_memory[member], layout.total, site.terms.granularity, site.device, Phase::map_peers);
    if (!mapped) return mapped.error();
    peers[member] = mapped.take();
  }
  return {};
}

Status Unicast::close() {
  Status first;
  for (MappedRange& peer : peers) keep_first(first, peer.close(Phase::teardown));
  for (PhysicalHandle& peer : peer_memory) keep_first(first, peer.release(Phase::teardown));
  received.clear();
  shared = Shareable();
  keep_first(first, local.close(Phase::teardown));
  keep_first(first, memory.release(Phase::teardown));
  return first;
}

void Unicast::abandon() {
  for (MappedRange& peer : peers) peer.abandon();
  for (PhysicalHandle& peer : peer_memory) peer.abandon();
  local.abandon();
  memory.abandon();
}

CUdeviceptr Unicast::pad(int member) const {
  if (member == site.agreement->group().me) return local.address();
  return peers[static_cast<std::size_t>(member)].address();
}

Status establish_unicast(Unicast& unicast, std::uint64_t bytes, Status ready) {
  Agreement& agreement = *unicast.site.agreement;

  Status mine = std::move(ready);
  if (mine) mine = unicast.allocate(bytes);
  if (mine) mine = unicast.zero_pads();
  Status agreed = unicast.exchange_layout(std::move(mine));
  if (!agreed) return agreed;

  agreed = unicast.exchange_handles(unicast.export_memory());
  if (!agreed) return agreed;

  mine = unicast.import_peers();
  agreed = agreement.vote(Phase::import_memory, std::move(mine));
  if (!agreed) return agreed;
  // Every peer has its own reference now; the exported descriptor is no longer needed.
  unicast.shared = Shareable();

  return agreement.vote(Phase::map_peers, unicast.map_peers());
}

}  // namespace symm_mem

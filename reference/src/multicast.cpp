#include "symm_mem/multicast.hpp"

namespace symm_mem {

Status Multicast::create_and_export() {
  if (!site.agreement->group().is_root()) return {};
  site.enter(Phase::create_multicast);
  if (!site.terms.multicast) {
    return Error{.call = "cuMulticastCreate",
                 .phase = Phase::create_multicast,
                 .text = "not called: " + site.terms.why_no_multicast};
  }
  CUmulticastObjectProp properties{};
  properties.numDevices = static_cast<unsigned>(site.agreement->group().size());
  properties.size = unicast.layout.total;
  properties.handleTypes = static_cast<unsigned long long>(site.terms.route);
  CUmemGenericAllocationHandle value = 0;
  const Status status =
      check(cuMulticastCreate(&value, &properties), "cuMulticastCreate", Phase::create_multicast);
  if (!status) return status;
  created = PhysicalHandle(value, Provenance::native);

  Result<Shareable> exported = export_handle(created, site.terms.route, Phase::create_multicast);
  if (!exported) return exported.error();
  shared = exported.take();
  return {};
}

Status Multicast::share(Status mine) {
  site.enter(Phase::share_multicast);
  Result<Shareable> received = broadcast_shareable(*site.agreement, Phase::share_multicast,
                                                   std::move(mine), site.terms.route, shared);
  if (!received) return received.error();
  if (!site.agreement->group().is_root()) shared = received.take();
  return {};
}

Status Multicast::import_object() {
  site.enter(Phase::import_multicast);
  Result<PhysicalHandle> imported = import_handle(shared, Phase::import_multicast);
  if (!imported) return imported.error();
  object = imported.take();
  if (!site.agreement->group().is_root()) shared = Shareable();
  return {};
}

Status Multicast::add_device() {
  site.enter(Phase::add_device);
  return check(cuMulticastAddDevice(object.value(), site.device), "cuMulticastAddDevice",
               Phase::add_device);
}

Status Multicast::vote(Phase phase, Status mine) {
  return site.agreement->vote(phase, std::move(mine));
}

Status Multicast::bind() {
  site.enter(Phase::bind);
  Result<Binding> bound = Binding::bind(object, site.device, unicast.memory, unicast.layout.total);
  if (!bound) return bound.error();
  binding = bound.take();
  return {};
}

Status Multicast::map() {
  site.enter(Phase::map_multicast);
  Result<MappedRange> mapped = MappedRange::map(
      object, unicast.layout.total, site.terms.granularity, site.device, Phase::map_multicast);
  if (!mapped) return mapped.error();
  range = mapped.take();
  return {};
}

Status Multicast::release_create_reference() {
  if (!site.agreement->group().is_root()) return {};
  site.enter(Phase::release_create);
  shared = Shareable();
  return created.release(Phase::release_create);
}

Status Multicast::close() {
  Status first = range.close(Phase::teardown);
  // SM-TEAR-2: this rank's own device, exactly the bound range.
  keep_first(first, binding.close(Phase::teardown));
  // SM-LIFE-5: one release for the import, one for the create reference where it is still held.
  keep_first(first, object.release(Phase::teardown));
  shared = Shareable();
  keep_first(first, created.release(Phase::teardown));
  return first;
}

void Multicast::abandon() {
  range.abandon();
  binding.abandon();
  object.abandon();
  created.abandon();
}

Status establish_multicast(Multicast& multicast) {
  // SM-AGRE-5: the root's failure reaches everybody in the place of its export.
  Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;

  // SM-PROV-1, SM-PROV-2, SM-PROV-3: without a condition on the rank, the root, its ordinal or the
  // block. SM-PROV-4: all that follows goes through this import.
  Status mine = multicast.import_object();
  if (mine) mine = multicast.add_device();
  // SM-AGRE-1: past this vote every device has been added, so that no bind waits for ever.
  agreed = multicast.vote(Phase::add_device, std::move(mine));
  if (!agreed) return agreed;

  // SM-AGRE-6: bind, then map.
  mine = multicast.bind();
  if (mine) mine = multicast.map();
  // SM-AGRE-2: no rank takes this for success before all have mapped.
  agreed = multicast.vote(Phase::map_multicast, std::move(mine));
  if (!agreed) return agreed;

  // SM-LIFE-1, SM-LIFE-2: after every import, which the votes have shown, and not never.
  mine = multicast.release_create_reference();
  // SM-FALL-7: nothing was written through the mapping before (SM-SIG-5).
  if (mine) mine = multicast.write_probe();
  agreed = multicast.vote(Phase::probe, std::move(mine));
  if (!agreed) return agreed;
  return multicast.vote(Phase::probe, multicast.check_probe());
}

}  // namespace symm_mem

#include "symm_mem/shareable.hpp"

#include <cstdint>
#include <cstring>

namespace symm_mem {
namespace {

Bytes fabric_bytes(const Shareable& shareable) {
  Bytes bytes(sizeof(shareable.fabric));
  std::memcpy(bytes.data(), &shareable.fabric, bytes.size());
  return bytes;
}

// False when the bytes are no fabric handle.
bool from_fabric_bytes(const Bytes& bytes, Shareable& shareable) {
  if (bytes.size() != sizeof(shareable.fabric)) return false;
  shareable.route = Route::fabric;
  std::memcpy(&shareable.fabric, bytes.data(), bytes.size());
  return true;
}

Error not_a_handle(Phase phase, int rank) {
  return {.call = "receive handle", .rank = rank, .phase = phase, .text = "not a fabric handle"};
}

}  // namespace

CUmemAllocationProp memory_properties(CUdevice device, Route route) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  properties.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(route);
  return properties;
}

Result<Shareable> export_handle(const PhysicalHandle& handle, Route route, Phase phase) {
  Shareable shareable;
  shareable.route = route;
  int fd = -1;
  void* out = route == Route::fabric ? static_cast<void*>(&shareable.fabric) : &fd;
  const Status status =
      check(cuMemExportToShareableHandle(out, handle.value(),
                                         static_cast<CUmemAllocationHandleType>(route), 0),
            "cuMemExportToShareableHandle", phase);
  if (!status) return status.error();
  shareable.descriptor = Descriptor(fd);
  return shareable;
}

Result<PhysicalHandle> import_handle(const Shareable& shareable, Phase phase) {
  // The driver takes the descriptor's number in the place of a pointer, and the address of the
  // bytes of a fabric handle (cuda.h:cuMemImportFromShareableHandle); it writes to neither.
  void* os_handle =
      shareable.route == Route::fabric
          ? const_cast<CUmemFabricHandle*>(&shareable.fabric)
          : reinterpret_cast<void*>(static_cast<std::uintptr_t>(shareable.descriptor.get()));
  CUmemGenericAllocationHandle value = 0;
  const Status status =
      check(cuMemImportFromShareableHandle(&value, os_handle,
                                           static_cast<CUmemAllocationHandleType>(shareable.route)),
            "cuMemImportFromShareableHandle", phase);
  if (!status) return status.error();
  return PhysicalHandle(value, Provenance::imported);
}

Result<std::vector<Shareable>> all_gather_shareable(Agreement& agreement, Phase phase,
                                                    Status status, const Shareable& mine) {
  const Group& group = agreement.group();
  Bytes payload = mine.route == Route::fabric ? fabric_bytes(mine) : Bytes();
  Result<std::vector<Bytes>> agreed =
      agreement.all_gather(phase, std::move(status), std::move(payload));
  if (!agreed) return agreed.error();

  std::vector<Shareable> all(static_cast<std::size_t>(group.size()));
  if (mine.route == Route::posix_fd) {
    Result<std::vector<Descriptor>> descriptors =
        agreement.all_gather_descriptors(phase, mine.descriptor);
    if (!descriptors) return descriptors.error();
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].route = Route::posix_fd;
      all[i].descriptor = std::move(descriptors.value()[i]);
    }
    return all;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(i) == group.me) continue;
    if (!from_fabric_bytes(agreed.value()[i], all[i])) return not_a_handle(phase, group.members[i]);
  }
  return all;
}

Result<Shareable> pass_shareable(Agreement& agreement, Phase phase, const Shareable& mine) {
  const Group& group = agreement.group();
  Shareable taken;
  if (mine.route == Route::posix_fd) {
    Result<Descriptor> descriptor = agreement.pass_descriptor(phase, mine.descriptor);
    if (!descriptor) return descriptor.error();
    taken.route = mine.route;
    taken.descriptor = descriptor.take();
    return taken;
  }
  const Result<std::vector<Bytes>> all = agreement.all_gather(phase, Status(), fabric_bytes(mine));
  if (!all) return all.error();
  const auto previous = static_cast<std::size_t>((group.me + group.size() - 1) % group.size());
  if (!from_fabric_bytes(all.value()[previous], taken)) {
    return not_a_handle(phase, group.members[previous]);
  }
  return taken;
}

Result<Shareable> broadcast_shareable(Agreement& agreement, Phase phase, Status status, Route route,
                                      const Shareable& mine) {
  const Group& group = agreement.group();
  Bytes payload = route == Route::fabric && group.is_root() ? fabric_bytes(mine) : Bytes();
  Result<Bytes> agreed = agreement.broadcast(phase, std::move(status), std::move(payload));
  if (!agreed) return agreed.error();

  Shareable shareable;
  if (route == Route::posix_fd) {
    Result<Descriptor> descriptor = agreement.broadcast_descriptor(phase, mine.descriptor);
    if (!descriptor) return descriptor.error();
    shareable.route = route;
    shareable.descriptor = descriptor.take();
  } else if (!group.is_root() && !from_fabric_bytes(agreed.value(), shareable)) {
    return not_a_handle(phase, group.members[static_cast<std::size_t>(group.root)]);
  }
  return shareable;
}

}  // namespace symm_mem

// Machine: how handles travel between processes.
#include <algorithm>

#include "harness/platform/model/machine.hpp"

namespace symmcts::platform {

bool Machine::imex_channel(ClientId client) const {
  const auto& without = faults_.imex_withdrawn_hosts;
  return imex_channel_ &&
         std::find(without.begin(), without.end(), host_of(client)) == without.end();
}

Code Machine::check_handle_types(ClientId client, std::uint32_t types) const {
  if ((types & ~(kHandlePosixFd | kHandleFabric)) != 0) return Code::invalid_value;
  if ((types & kHandlePosixFd) != 0 && !posix_fd_) return Code::not_supported;
  if ((types & kHandleFabric) != 0) {
    if (!fabric_) return Code::not_supported;
    // Measured on H200, whose attribute says that FABRIC is supported.
    if (!imex_channel(client)) return Code::not_permitted;
  }
  return Code::success;
}

Code Machine::export_descriptor(ClientId client, std::uint64_t handle, std::uint64_t& descriptor) {
  const Handle* entry = held(client, handle);
  if (entry == nullptr) return Code::invalid_value;
  SharedObject& shared = *object(entry->object);
  // Both INVALID_VALUE as measured: a type that was not requested; an imported handle.
  if (!entry->native || (shared.handle_types & kHandlePosixFd) == 0) return Code::invalid_value;
  descriptor = new_id(client, kind_of(shared.id));
  descriptors_[descriptor] = shared.id;
  ++shared.references;
  return Code::success;
}

void Machine::close_descriptor(std::uint64_t descriptor) {
  const auto it = descriptors_.find(descriptor);
  if (it == descriptors_.end()) return;
  const std::uint64_t object = it->second;
  descriptors_.erase(it);
  drop_reference(object);
}

Code Machine::import_descriptor(ClientId client, std::uint64_t descriptor, HandleInfo& out) {
  const auto it = descriptors_.find(descriptor);
  if (it == descriptors_.end()) return Code::unknown;  // as a descriptor of a file (measured)
  SharedObject& shared = *object(it->second);
  // A descriptor cannot leave its host; one that did would name nothing there.
  if (shared.host != host_of(client)) return Code::unknown;
  out = add_handle(client, shared, false);
  return Code::success;
}

Code Machine::export_fabric(ClientId client, std::uint64_t handle, FabricToken& out) {
  const Handle* entry = held(client, handle);
  if (entry == nullptr) return Code::invalid_value;
  const SharedObject& shared = *object(entry->object);
  if (!entry->native || (shared.handle_types & kHandleFabric) == 0) return Code::invalid_value;
  out = fabric_registry_.issue(shared.id, shared.creator);
  return Code::success;
}

Code Machine::import_fabric(ClientId client, const FabricToken& token, HandleInfo& out) {
  const auto entry = fabric_registry_.find(token);
  // Bytes that nobody issued: NOT_SUPPORTED was measured without a channel; with one INVALID_VALUE
  // is the only listed code that fits (A4.16). A token without its channel: NOT_PERMITTED
  // (cuda.h:cuMemImportFromShareableHandle).
  const bool reachable = fabric_ && imex_channel(client);
  if (!entry) return reachable ? Code::invalid_value : Code::not_supported;
  if (!reachable) return Code::not_permitted;
  SharedObject* shared = object(entry->object);
  if (shared != nullptr && shared->create_references > 0) {
    out = add_handle(client, *shared, false);
    return Code::success;
  }
  // Reported for multicast (torchcomms#3506): success, with an object of its own that nobody else
  // will ever reach. For memory no report is known; its token names nothing any more (inferred).
  if (kind_of(entry->object) != ObjectKind::multicast) return Code::invalid_value;
  const std::uint64_t id = new_id(client, ObjectKind::multicast);
  MulticastObject& empty = teams_[id];
  empty.id = id;
  empty.creator = entry->creator;
  empty.host = host_of(client);
  empty.handle_types = kHandleFabric;
  out = add_handle(client, empty, false);
  return Code::success;
}

std::optional<ObjectKind> Machine::kind_of_token(const FabricToken& token) const {
  const auto entry = fabric_registry_.find(token);
  if (!entry) return std::nullopt;
  return kind_of(entry->object);
}

std::optional<ObjectKind> Machine::kind_of_descriptor(std::uint64_t descriptor) const {
  if (!descriptors_.contains(descriptor)) return std::nullopt;
  return kind_of(descriptor);
}

}  // namespace symmcts::platform

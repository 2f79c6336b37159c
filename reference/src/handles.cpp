#include "symm_mem/handles.hpp"

namespace symm_mem {

PhysicalHandle& PhysicalHandle::operator=(PhysicalHandle&& other) noexcept {
  if (this == &other) return *this;
  (void)release(Phase::teardown);
  value_ = other.value_;
  provenance_ = other.provenance_;
  held_ = std::exchange(other.held_, false);
  return *this;
}

Status PhysicalHandle::release(Phase phase) {
  if (!std::exchange(held_, false)) return {};
  return check(cuMemRelease(value_), "cuMemRelease", phase);
}

MappedRange& MappedRange::operator=(MappedRange&& other) noexcept {
  if (this == &other) return *this;
  (void)close(Phase::teardown);
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  mapped_ = std::exchange(other.mapped_, false);
  return *this;
}

Result<MappedRange> MappedRange::map(const PhysicalHandle& handle, std::size_t bytes,
                                     std::size_t alignment, CUdevice device, Phase phase) {
  MappedRange range;
  Status status = check(cuMemAddressReserve(&range.address_, bytes, alignment, 0, 0),
                        "cuMemAddressReserve", phase);
  if (!status) return status.error();
  range.bytes_ = bytes;

  status = check(cuMemMap(range.address_, bytes, 0, handle.value(), 0), "cuMemMap", phase);
  if (!status) return status.error();
  range.mapped_ = true;

  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  status = check(cuMemSetAccess(range.address_, bytes, &access, 1), "cuMemSetAccess", phase);
  if (!status) return status.error();
  return range;
}

Status MappedRange::close(Phase phase) {
  Status first;
  if (std::exchange(mapped_, false)) {
    keep_first(first, check(cuMemUnmap(address_, bytes_), "cuMemUnmap", phase));
  }
  const std::size_t bytes = std::exchange(bytes_, 0);
  if (bytes != 0) {
    keep_first(first, check(cuMemAddressFree(address_, bytes), "cuMemAddressFree", phase));
  }
  address_ = 0;
  return first;
}

Binding& Binding::operator=(Binding&& other) noexcept {
  if (this == &other) return *this;
  (void)close(Phase::teardown);
  object_ = other.object_;
  device_ = other.device_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

Result<Binding> Binding::bind(const PhysicalHandle& object, CUdevice device,
                              const PhysicalHandle& memory, std::size_t bytes) {
  const Status status = check(cuMulticastBindMem(object.value(), 0, memory.value(), 0, bytes, 0),
                              "cuMulticastBindMem", Phase::bind);
  if (!status) return status.error();
  Binding binding;
  binding.object_ = object.value();
  binding.device_ = device;
  binding.bytes_ = bytes;
  return binding;
}

Status Binding::close(Phase phase) {
  const std::size_t bytes = std::exchange(bytes_, 0);
  if (bytes == 0) return {};
  return check(cuMulticastUnbind(object_, device_, 0, bytes), "cuMulticastUnbind", phase);
}

}  // namespace symm_mem

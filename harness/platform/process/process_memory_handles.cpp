#include <fcntl.h>

#include "harness/platform/process/process_memory.hpp"

namespace symmcts::platform {
namespace {

constexpr const char* kImport = "cuMemImportFromShareableHandle";

}  // namespace

Code ProcessMemory::create(int ordinal, std::uint64_t size, std::uint32_t handle_types,
                           AppHandle& out) {
  if (!visible(ordinal)) return Code::invalid_device;
  // "create unaligned": INVALID_VALUE (measured, errors-latency-sizes).
  if (size == 0 || size % profile_.granularity.value != 0) return Code::invalid_value;
  HandleInfo info;
  const Code code = gated("cuMemCreate", 0, [&](CallTime& time, std::uint64_t& gate_handle) {
    const int gpu = visible_[static_cast<std::size_t>(ordinal)];
    const Code made = client_.create_memory(time, gpu, size, handle_types, info);
    gate_handle = info.handle;
    return made;
  });
  if (code != Code::success) return code;
  const Ns now = clock_.now();
  std::lock_guard lock(mutex_);
  out = handles_.add(info, true, "cuMemCreate", now)->number;
  return Code::success;
}

Code ProcessMemory::release(AppHandle number) {
  std::shared_ptr<Handle> handle;
  bool last = false;
  {
    std::lock_guard lock(mutex_);
    handle = handles_.find(number);
    if (handle) last = handles_.release(handle);
  }
  if (!handle) return refuse("cuMemRelease", number);
  return gated("cuMemRelease", handle->info.handle, [&](CallTime& time, std::uint64_t&) {
    // Retains are counted here: the broker knows one reference a handle.
    return last ? client_.release(time, handle->info.handle) : Code::success;
  });
}

Code ProcessMemory::retain(std::uint64_t address, AppHandle& out) {
  std::shared_ptr<Handle> handle;
  bool revive = false;
  {
    std::lock_guard lock(mutex_);
    const auto mapping = mappings_.find(address);
    // Memory of cuMemAlloc has no handle to give (cuda.h:cuMemRetainAllocationHandle).
    if (!mapping || mapping->allocated) return Code::invalid_value;
    handle = mapping->handle;
    revive = handle->references == 0;
    if (!revive) handles_.reference(handle);
  }
  if (revive) {
    // The application has released the handle, and only the mapping keeps the memory.
    const Code code = timed("cuMemRetainAllocationHandle", [&](CallTime& time) {
      return client_.retain(time, handle->info.handle);
    });
    if (code != Code::success) return code;
    std::lock_guard lock(mutex_);
    handles_.reference(handle);
  }
  out = handle->number;
  return Code::success;
}

Code ProcessMemory::info(AppHandle number, HandleInfo& out) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMemGetAllocationPropertiesFromHandle", number);
  out = handle->info;
  return Code::success;
}

Code ProcessMemory::export_fd(AppHandle number, int& fd) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMemExportToShareableHandle", number);
  // A type that was not requested, none at all, or an imported handle, whose types read 0:
  // INVALID_VALUE in each case (measured).
  if ((handle->info.handle_types & kHandlePosixFd) == 0) return Code::invalid_value;
  return gated("cuMemExportToShareableHandle", handle->info.handle,
               [&](CallTime& time, std::uint64_t&) {
                 handle->shared = true;
                 return client_.export_fd(time, handle->info.handle, fd);
               });
}

Code ProcessMemory::export_fabric(AppHandle number, std::array<std::uint8_t, 64>& out) {
  const auto handle = find_handle(number);
  if (!handle) return refuse("cuMemExportToShareableHandle", number);
  if ((handle->info.handle_types & kHandleFabric) == 0) return Code::invalid_value;
  return gated("cuMemExportToShareableHandle", handle->info.handle,
               [&](CallTime& time, std::uint64_t&) {
                 handle->shared = true;
                 return client_.export_fabric(time, handle->info.handle, out);
               });
}

Code ProcessMemory::import_fd(int fd, AppHandle& out) {
  // Measured: descriptor 0 reads as a null pointer, INVALID_VALUE; a number that is no descriptor,
  // or one of a file or pipe, is UNKNOWN (the broker finds out the latter).
  if (fd == 0) return Code::invalid_value;
  if (fcntl(fd, F_GETFD) == -1) return Code::unknown;
  return import([&](CallTime& time) { client_.before_import(time, kImport, fd, nullptr); },
                [&](CallTime& time, HandleInfo& info) { return client_.import_fd(time, fd, info); },
                out);
}

Code ProcessMemory::import_fabric(const std::array<std::uint8_t, 64>& bytes, AppHandle& out) {
  return import(
      [&](CallTime& time) { client_.before_import(time, kImport, -1, &bytes); },
      [&](CallTime& time, HandleInfo& info) { return client_.import_fabric(time, bytes, info); },
      out);
}

Code ProcessMemory::import(const std::function<void(CallTime&)>& gate,
                           const std::function<Code(CallTime&, HandleInfo&)>& call,
                           AppHandle& out) {
  HandleInfo info;
  const Code code = gated_by(gate, kImport, 0, [&](CallTime& time, std::uint64_t& gate_handle) {
    const Code made = call(time, info);
    gate_handle = info.handle;
    return made;
  });
  if (code != Code::success) return code;
  const Ns now = clock_.now();
  std::lock_guard lock(mutex_);
  const auto handle = handles_.add(info, false, kImport, now);
  handle->shared = true;
  out = handle->number;
  return Code::success;
}

}  // namespace symmcts::platform

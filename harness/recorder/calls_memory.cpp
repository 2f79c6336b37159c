#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>
#include <cstdio>
#include <cstring>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

// Identifies the 64 bytes of a fabric handle: FNV-1a, so that no bytes of it are published.
std::string fabric_token(const void* handle) {
  const auto* bytes = static_cast<const unsigned char*>(handle);
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < sizeof(CUmemFabricHandle); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

void add_route(JsonObject& args, CUmemAllocationHandleType type, const void* fabric) {
  args.text("route", type == CU_MEM_HANDLE_TYPE_FABRIC ? "fabric" : "fd");
  if (type == CU_MEM_HANDLE_TYPE_FABRIC && fabric != nullptr) {
    args.text("token", fabric_token(fabric));
  } else {
    args.null("token");
  }
}

void create(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemCreate_params>();
  if (view.ok) args.number("handle", numbering.handles.created(*params.handle));
  args.number("bytes", params.size);
  if (params.prop == nullptr) return;
  args.integer("device", params.prop->location.id);
  args.number("types", params.prop->requestedHandleTypes);
}

void export_handle(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemExportToShareableHandle_params>();
  args.number("handle", numbering.handles.of(params.handle));
  add_route(args, params.handleType, view.ok ? params.shareableHandle : nullptr);
}

void import_handle(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemImportFromShareableHandle_params>();
  if (view.ok) args.number("handle", numbering.handles.imported(*params.handle));
  add_route(args, params.shHandleType, params.osHandle);
}

void retain(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemRetainAllocationHandle_params>();
  const auto address = reinterpret_cast<std::uint64_t>(params.addr);
  if (view.ok) {
    const Piece* mapping = numbering.mappings.find(address);
    const Number mapped = mapping != nullptr ? mapping->handle : 0;
    args.number("handle", numbering.handles.retained(*params.handle, mapped));
  }
  args.raw("at", place(numbering, address));
}

void release(Numbering& numbering, const CallView& view, JsonObject& args) {
  args.number("handle", numbering.handles.of(view.as<cuMemRelease_params>().handle));
}

void forget_handle(Numbering& numbering, const CallView& view) {
  numbering.handles.released(view.as<cuMemRelease_params>().handle, view.last);
}

void reserve(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemAddressReserve_params>();
  if (view.ok) args.number("range", numbering.ranges.add(*params.ptr, params.size));
  args.number("bytes", params.size);
}

// The reservation that holds an address, and the offset in it.
void add_range(const Numbering& numbering, std::uint64_t address, JsonObject& args,
               bool with_offset) {
  const Piece* range = numbering.ranges.find(address);
  if (range == nullptr) return;
  args.number("range", range->number);
  if (with_offset) args.number("offset", address - range->base);
}

void free_range(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemAddressFree_params>();
  add_range(numbering, params.ptr, args, false);
  args.number("bytes", params.size);
}

void forget_range(Numbering& numbering, const CallView& view) {
  const auto& params = view.as<cuMemAddressFree_params>();
  numbering.ranges.remove(params.ptr, params.size, view.last);
}

void map(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemMap_params>();
  const Number handle = numbering.handles.of(params.handle);
  if (view.ok) args.number("mapping", numbering.mappings.add(params.ptr, params.size, handle));
  add_range(numbering, params.ptr, args, true);
  args.number("bytes", params.size).number("handle", handle);
}

void unmap(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemUnmap_params>();
  JsonArray mappings;
  for (const Piece& mapping : numbering.mappings.inside(params.ptr, params.size)) {
    mappings.number(mapping.number);
  }
  args.raw("mappings", mappings.take());
  add_range(numbering, params.ptr, args, false);
  args.number("bytes", params.size);
}

void forget_mappings(Numbering& numbering, const CallView& view) {
  const auto& params = view.as<cuMemUnmap_params>();
  numbering.mappings.remove(params.ptr, params.size, view.last);
}

void set_access(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemSetAccess_params>();
  add_range(numbering, params.ptr, args, true);
  args.number("bytes", params.size);
  JsonArray devices;
  for (std::size_t i = 0; params.desc != nullptr && i < params.count; ++i) {
    devices.raw(std::to_string(params.desc[i].location.id));
  }
  args.raw("devices", devices.take());
}

Number newest_handle(const Numbering& numbering) { return numbering.handles.last(); }
Number newest_range(const Numbering& numbering) { return numbering.ranges.last(); }
Number newest_mapping(const Numbering& numbering) { return numbering.mappings.last(); }

constexpr std::array kRules = {
    CallRule{"cuMemCreate", true, create},
    CallRule{"cuMemExportToShareableHandle", true, export_handle},
    CallRule{"cuMemImportFromShareableHandle", true, import_handle},
    CallRule{"cuMemRetainAllocationHandle", true, retain},
    CallRule{"cuMemRelease", true, release, newest_handle, forget_handle},
    CallRule{"cuMemAddressReserve", true, reserve},
    CallRule{"cuMemAddressFree", true, free_range, newest_range, forget_range},
    CallRule{"cuMemMap", true, map},
    CallRule{"cuMemUnmap", true, unmap, newest_mapping, forget_mappings},
    CallRule{"cuMemSetAccess", true, set_access},
};

}  // namespace

std::span<const CallRule> memory_rules() { return kRules; }

}  // namespace symmcts::recorder

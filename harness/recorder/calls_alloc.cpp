#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

template <typename Params>
void alloc_device(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  if (view.ok) args.number("alloc", numbering.allocs.add(*params.dptr, params.bytesize));
  args.number("bytes", params.bytesize);
}

template <typename Params>
void free_device(Numbering& numbering, const CallView& view, JsonObject& args) {
  const Piece* alloc = numbering.allocs.find(view.as<Params>().dptr);
  if (alloc != nullptr) args.number("alloc", alloc->number).number("bytes", alloc->bytes);
}

template <typename Params>
void forget_device(Numbering& numbering, const CallView& view) {
  numbering.allocs.remove(view.as<Params>().dptr, 1, view.last);
}

template <typename Params>
void alloc_host(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  if (view.ok) args.number("pinned", numbering.pinned.add(address_of(*params.pp), params.bytesize));
  args.number("bytes", params.bytesize);
}

void register_host(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMemHostRegister_v2_params>();
  if (view.ok) args.number("pinned", numbering.pinned.add(address_of(params.p), params.bytesize));
  args.number("bytes", params.bytesize);
}

template <typename Params>
void free_host(Numbering& numbering, const CallView& view, JsonObject& args) {
  const Piece* block = numbering.pinned.find(address_of(view.as<Params>().p));
  if (block != nullptr) args.number("pinned", block->number).number("bytes", block->bytes);
}

template <typename Params>
void forget_host(Numbering& numbering, const CallView& view) {
  numbering.pinned.remove(address_of(view.as<Params>().p), 1, view.last);
}

Number newest_alloc(const Numbering& numbering) { return numbering.allocs.last(); }
Number newest_pinned(const Numbering& numbering) { return numbering.pinned.last(); }

constexpr std::array kRules = {
    CallRule{"cuMemAlloc_v2", false, alloc_device<cuMemAlloc_v2_params>},
    CallRule{"cuMemAllocManaged", false, alloc_device<cuMemAllocManaged_params>},
    CallRule{"cuMemAllocAsync", false, alloc_device<cuMemAllocAsync_params>},
    CallRule{"cuMemAllocFromPoolAsync", false, alloc_device<cuMemAllocFromPoolAsync_params>},
    CallRule{"cuMemFree_v2", true, free_device<cuMemFree_v2_params>, newest_alloc,
             forget_device<cuMemFree_v2_params>},
    CallRule{"cuMemFreeAsync", false, free_device<cuMemFreeAsync_params>, newest_alloc,
             forget_device<cuMemFreeAsync_params>},
    CallRule{"cuMemAllocHost_v2", false, alloc_host<cuMemAllocHost_v2_params>},
    CallRule{"cuMemHostAlloc", false, alloc_host<cuMemHostAlloc_params>},
    CallRule{"cuMemHostAlloc_v2", false, alloc_host<cuMemHostAlloc_params>},
    CallRule{"cuMemFreeHost", true, free_host<cuMemFreeHost_params>, newest_pinned,
             forget_host<cuMemFreeHost_params>},
    CallRule{"cuMemHostRegister_v2", false, register_host},
    CallRule{"cuMemHostUnregister", false, free_host<cuMemHostUnregister_params>, newest_pinned,
             forget_host<cuMemHostUnregister_params>},
};

}  // namespace

std::span<const CallRule> alloc_rules() { return kRules; }

}  // namespace symmcts::recorder

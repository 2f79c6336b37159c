#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

void create(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMulticastCreate_params>();
  if (view.ok) args.number("handle", numbering.handles.created(*params.mcHandle));
  if (params.prop == nullptr) return;
  args.number("bytes", params.prop->size).number("devices", params.prop->numDevices);
  args.number("types", params.prop->handleTypes);
}

void add_device(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMulticastAddDevice_params>();
  args.number("handle", numbering.handles.of(params.mcHandle)).integer("device", params.dev);
}

void bind_memory(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMulticastBindMem_params>();
  args.number("handle", numbering.handles.of(params.mcHandle));
  args.number("mc_offset", params.mcOffset);
  args.number("mem_handle", numbering.handles.of(params.memHandle));
  args.number("mem_offset", params.memOffset).number("bytes", params.size);
}

void bind_address(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMulticastBindAddr_params>();
  args.number("handle", numbering.handles.of(params.mcHandle));
  args.number("mc_offset", params.mcOffset).raw("at", place(numbering, params.memptr));
  args.number("mem_offset", 0).number("bytes", params.size);
}

void unbind(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuMulticastUnbind_params>();
  args.number("handle", numbering.handles.of(params.mcHandle)).integer("device", params.dev);
  args.number("mc_offset", params.mcOffset).number("bytes", params.size);
}

constexpr std::array kRules = {
    CallRule{"cuMulticastCreate", true, create},
    CallRule{"cuMulticastAddDevice", true, add_device},
    CallRule{"cuMulticastBindMem", true, bind_memory},
    CallRule{"cuMulticastBindAddr", true, bind_address},
    CallRule{"cuMulticastUnbind", true, unbind},
};

}  // namespace

std::span<const CallRule> multicast_rules() { return kRules; }

}  // namespace symmcts::recorder

#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

std::uint64_t value_of(const void* object) { return reinterpret_cast<std::uint64_t>(object); }

template <typename Params>
void create_stream(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  if (view.ok) args.number("stream", numbering.streams.fresh(value_of(*params.phStream)));
}

template <typename Params>
void name_stream(Numbering& numbering, const CallView& view, JsonObject& args) {
  args.number("stream", stream_number(numbering, view, view.as<Params>().hStream));
}

void forget_stream(Numbering& numbering, const CallView& view) {
  const auto& params = view.as<cuStreamDestroy_v2_params>();
  numbering.streams.forget(value_of(params.hStream), view.last);
}

void create_event(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<cuEventCreate_params>();
  if (view.ok) args.number("event", numbering.events.fresh(value_of(*params.phEvent)));
}

template <typename Params>
void name_event(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  args.number("event", numbering.events.of(value_of(params.hEvent)));
  if constexpr (requires { params.hStream; }) {
    args.number("stream", stream_number(numbering, view, params.hStream));
  }
}

void forget_event(Numbering& numbering, const CallView& view) {
  const auto& params = view.as<cuEventDestroy_v2_params>();
  numbering.events.forget(value_of(params.hEvent), view.last);
}

void nothing(Numbering&, const CallView&, JsonObject&) {}

template <typename Params>
void memory_word(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  args.raw("at", place(numbering, params.addr)).number("value", params.value);
  args.number("stream", stream_number(numbering, view, params.stream));
  args.number("flags", params.flags);
}

// Waits and writes have one layout; the other operations have no address.
std::string describe_operation(const Numbering& numbering,
                               const CUstreamBatchMemOpParams& operation) {
  JsonObject object;
  const auto word = [&](const char* name, std::uint64_t value) {
    object.text("op", name).raw("at", place(numbering, operation.waitValue.address));
    object.number("value", value).number("flags", operation.waitValue.flags);
  };
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      word("wait32", operation.waitValue.value);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      word("wait64", operation.waitValue.value64);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      word("write32", operation.writeValue.value);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      word("write64", operation.writeValue.value64);
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      object.text("op", "barrier");
      break;
    default:
      object.text("op", "flush");
      break;
  }
  return object.take();
}

template <typename Params>
void batch(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  JsonArray operations;
  for (unsigned i = 0; params.paramArray != nullptr && i < params.count; ++i) {
    operations.raw(describe_operation(numbering, params.paramArray[i]));
  }
  args.raw("ops", operations.take());
  args.number("stream", stream_number(numbering, view, params.stream));
}

Number newest_stream(const Numbering& numbering) { return numbering.streams.last(); }
Number newest_event(const Numbering& numbering) { return numbering.events.last(); }

constexpr std::array kRules = {
    CallRule{"cuStreamCreate", false, create_stream<cuStreamCreate_params>},
    CallRule{"cuStreamCreateWithPriority", false, create_stream<cuStreamCreateWithPriority_params>},
    CallRule{"cuStreamDestroy_v2", true, name_stream<cuStreamDestroy_v2_params>, newest_stream,
             forget_stream},
    CallRule{"cuStreamSynchronize", true, name_stream<cuStreamSynchronize_params>},
    CallRule{"cuCtxSynchronize", true, nothing},
    CallRule{"cuCtxSynchronize_v2", true, nothing},
    CallRule{"cuEventCreate", false, create_event},
    CallRule{"cuEventDestroy_v2", false, name_event<cuEventDestroy_v2_params>, newest_event,
             forget_event},
    CallRule{"cuEventRecord", false, name_event<cuEventRecord_params>},
    CallRule{"cuEventRecordWithFlags", false, name_event<cuEventRecordWithFlags_params>},
    CallRule{"cuStreamWaitEvent", false, name_event<cuStreamWaitEvent_params>},
    CallRule{"cuEventSynchronize", true, name_event<cuEventSynchronize_params>},
    CallRule{"cuStreamWriteValue32", false, memory_word<cuStreamWriteValue32_params>},
    CallRule{"cuStreamWriteValue32_v2", false, memory_word<cuStreamWriteValue32_v2_params>},
    CallRule{"cuStreamWriteValue64", false, memory_word<cuStreamWriteValue64_params>},
    CallRule{"cuStreamWriteValue64_v2", false, memory_word<cuStreamWriteValue64_v2_params>},
    CallRule{"cuStreamWaitValue32", false, memory_word<cuStreamWaitValue32_params>},
    CallRule{"cuStreamWaitValue32_v2", false, memory_word<cuStreamWaitValue32_v2_params>},
    CallRule{"cuStreamWaitValue64", false, memory_word<cuStreamWaitValue64_params>},
    CallRule{"cuStreamWaitValue64_v2", false, memory_word<cuStreamWaitValue64_v2_params>},
    CallRule{"cuStreamBatchMemOp", false, batch<cuStreamBatchMemOp_params>},
    CallRule{"cuStreamBatchMemOp_v2", false, batch<cuStreamBatchMemOp_v2_params>},
};

}  // namespace

std::span<const CallRule> stream_rules() { return kRules; }

}  // namespace symmcts::recorder

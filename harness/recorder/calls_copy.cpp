#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

void add_copy(JsonObject& args, const std::string& destination, const std::string& source,
              std::uint64_t bytes) {
  args.raw("dst", destination).raw("src", source).number("bytes", bytes);
}

void add_stream(Numbering& numbering, const CallView& view, JsonObject& args, CUstream stream) {
  args.number("stream", stream_number(numbering, view, stream));
}

// Unified addresses: cuMemcpy names its parameters dst and src, the DtoD and peer forms dstDevice
// and srcDevice.
template <typename Params>
void describe_unified(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  CUstream stream = nullptr;
  if constexpr (requires { params.hStream; }) stream = params.hStream;
  if constexpr (requires { params.dstDevice; }) {
    add_copy(args, place(numbering, params.dstDevice), place(numbering, params.srcDevice),
             params.ByteCount);
  } else {
    add_copy(args, place(numbering, params.dst), place(numbering, params.src), params.ByteCount);
  }
  add_stream(numbering, view, args, stream);
}

template <typename Params>
void describe_upload(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  add_copy(args, place(numbering, params.dstDevice), host_place(numbering, params.srcHost),
           params.ByteCount);
  CUstream stream = nullptr;
  if constexpr (requires { params.hStream; }) stream = params.hStream;
  add_stream(numbering, view, args, stream);
}

template <typename Params>
void describe_download(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  add_copy(args, host_place(numbering, params.dstHost), place(numbering, params.srcDevice),
           params.ByteCount);
  CUstream stream = nullptr;
  if constexpr (requires { params.hStream; }) stream = params.hStream;
  add_stream(numbering, view, args, stream);
}

// Copies of rectangles and boxes: the amount of data; arrays have no address to name.
template <typename Params>
void describe_box(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  std::uint64_t bytes = 0;
  if (params.pCopy != nullptr) {
    bytes = params.pCopy->WidthInBytes * params.pCopy->Height;
    if constexpr (requires { params.pCopy->Depth; }) bytes *= params.pCopy->Depth;
  }
  add_copy(args, "{}", "{}", bytes);
  CUstream stream = nullptr;
  if constexpr (requires { params.hStream; }) stream = params.hStream;
  add_stream(numbering, view, args, stream);
}

// A batch: the sum, and each copy of it under `ops`.
template <typename Params>
void describe_batch(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  std::uint64_t sum = 0;
  JsonArray copies;
  for (std::size_t i = 0; view.ok && i < params.count; ++i) {  // else they may be no arrays
    JsonObject copy;
    add_copy(copy, place(numbering, params.dsts[i]), place(numbering, params.srcs[i]),
             params.sizes[i]);
    copies.raw(copy.take());
    sum += params.sizes[i];
  }
  add_copy(args, "{}", "{}", sum);
  add_stream(numbering, view, args, params.hStream);
  args.raw("ops", copies.take());
}

constexpr std::array kRules = {
    CallRule{"cuMemcpy", true, describe_unified<cuMemcpy_params>},
    CallRule{"cuMemcpyAsync", false, describe_unified<cuMemcpyAsync_params>},
    CallRule{"cuMemcpyPeer", true, describe_unified<cuMemcpyPeer_params>},
    CallRule{"cuMemcpyPeerAsync", false, describe_unified<cuMemcpyPeerAsync_params>},
    CallRule{"cuMemcpyDtoD_v2", true, describe_unified<cuMemcpyDtoD_v2_params>},
    CallRule{"cuMemcpyDtoDAsync_v2", false, describe_unified<cuMemcpyDtoDAsync_v2_params>},
    CallRule{"cuMemcpyHtoD_v2", true, describe_upload<cuMemcpyHtoD_v2_params>},
    CallRule{"cuMemcpyHtoDAsync_v2", false, describe_upload<cuMemcpyHtoDAsync_v2_params>},
    CallRule{"cuMemcpyDtoH_v2", true, describe_download<cuMemcpyDtoH_v2_params>},
    CallRule{"cuMemcpyDtoHAsync_v2", false, describe_download<cuMemcpyDtoHAsync_v2_params>},
    CallRule{"cuMemcpy2D_v2", true, describe_box<cuMemcpy2D_v2_params>},
    CallRule{"cuMemcpy2DUnaligned_v2", true, describe_box<cuMemcpy2DUnaligned_v2_params>},
    CallRule{"cuMemcpy2DAsync_v2", false, describe_box<cuMemcpy2DAsync_v2_params>},
    CallRule{"cuMemcpy3D_v2", true, describe_box<cuMemcpy3D_v2_params>},
    CallRule{"cuMemcpy3DAsync_v2", false, describe_box<cuMemcpy3DAsync_v2_params>},
    CallRule{"cuMemcpy3DPeer", true, describe_box<cuMemcpy3DPeer_params>},
    CallRule{"cuMemcpy3DPeerAsync", false, describe_box<cuMemcpy3DPeerAsync_params>},
    CallRule{"cuMemcpyBatchAsync", false, describe_batch<cuMemcpyBatchAsync_params>},
    CallRule{"cuMemcpyBatchAsync_v2", false, describe_batch<cuMemcpyBatchAsync_v2_params>},
};

}  // namespace

std::span<const CallRule> copy_rules() { return kRules; }

}  // namespace symmcts::recorder

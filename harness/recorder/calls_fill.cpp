#include <cuda.h>
#include <cupti.h>  // brings the parameter structs of generated_cuda_meta.h

#include <array>

#include "harness/recorder/call_rules.hpp"

namespace symmcts::recorder {
namespace {

// Widths as the functions' names say, in bytes; the 2D forms count Width × Height elements.
template <typename Params, int kWidth>
void describe_fill(Numbering& numbering, const CallView& view, JsonObject& args) {
  const auto& params = view.as<Params>();
  std::uint64_t elements = 0;
  if constexpr (requires { params.Height; }) {
    elements = params.Width * params.Height;
  } else {
    elements = params.N;
  }
  args.raw("dst", place(numbering, params.dstDevice)).number("bytes", elements * kWidth);
  CUstream stream = nullptr;
  if constexpr (requires { params.hStream; }) stream = params.hStream;
  args.number("stream", stream_number(numbering, view, stream));
}

constexpr std::array kRules = {
    CallRule{"cuMemsetD8_v2", true, describe_fill<cuMemsetD8_v2_params, 1>},
    CallRule{"cuMemsetD16_v2", true, describe_fill<cuMemsetD16_v2_params, 2>},
    CallRule{"cuMemsetD32_v2", true, describe_fill<cuMemsetD32_v2_params, 4>},
    CallRule{"cuMemsetD2D8_v2", true, describe_fill<cuMemsetD2D8_v2_params, 1>},
    CallRule{"cuMemsetD2D16_v2", true, describe_fill<cuMemsetD2D16_v2_params, 2>},
    CallRule{"cuMemsetD2D32_v2", true, describe_fill<cuMemsetD2D32_v2_params, 4>},
    CallRule{"cuMemsetD8Async", false, describe_fill<cuMemsetD8Async_params, 1>},
    CallRule{"cuMemsetD16Async", false, describe_fill<cuMemsetD16Async_params, 2>},
    CallRule{"cuMemsetD32Async", false, describe_fill<cuMemsetD32Async_params, 4>},
    CallRule{"cuMemsetD2D8Async", false, describe_fill<cuMemsetD2D8Async_params, 1>},
    CallRule{"cuMemsetD2D16Async", false, describe_fill<cuMemsetD2D16Async_params, 2>},
    CallRule{"cuMemsetD2D32Async", false, describe_fill<cuMemsetD2D32Async_params, 4>},
};

}  // namespace

std::span<const CallRule> fill_rules() { return kRules; }

}  // namespace symmcts::recorder

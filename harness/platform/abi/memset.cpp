// Fills. All forms return at once, except that a fill of pinned host memory is waited for where the
// form is the synchronous one (the driver's "API synchronization behavior").
#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/span.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// A peer's block without cuCtxEnablePeerAccess: a fill is refused (measured) where a copy would be
// staged through the host.
bool foreign(const Call& call, Context& context, CUdeviceptr address) {
  std::uint64_t start = 0, size = 0;
  const auto owner = call.runtime().block_owner(address, start, size);
  if (!owner || owner->ordinal == context.ordinal) return false;
  const std::lock_guard lock(context.mutex);
  return !context.peers.contains(owner->ordinal);
}

// `shape.rows` may be 0. A pitch counts only where there is more than one row.
CUresult fill(Call& call, CUstream handle, FillShape shape, bool async) {
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  // A synchronous call beside a capture of other streams is none of its business (measured for
  // cuMemcpyDtoD, fixtures/oracles/h200-x2/error-table.txt).
  if (!async) {
    const CUresult refused = refuse_on_captured(call, stream);
    if (refused != CUDA_SUCCESS) return refused;
  }
  if (shape.count == 0 || shape.rows == 0) return CUDA_SUCCESS;
  const auto each = static_cast<std::size_t>(shape.width);
  if (shape.destination % each != 0 || shape.count > SIZE_MAX / each) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (foreign(call, *stream.context, shape.destination)) return CUDA_ERROR_INVALID_VALUE;
  std::size_t bytes = shape.count * each;
  if (shape.rows > 1) {
    if (shape.pitch < bytes || shape.pitch % each != 0 ||
        shape.pitch > (SIZE_MAX - bytes) / (shape.rows - 1)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    bytes += shape.pitch * (shape.rows - 1);
  }
  AddressInfo info;
  const CUresult error = check_span(call, *stream.context, shape.destination, bytes, Want::device,
                                    Touch::writes, info);
  if (error != CUDA_SUCCESS) return error;
  CUresult result = CUDA_SUCCESS;
  if (captured(call, stream, result, [&] { return FillWork{shape}; })) return result;
  Streams& streams = *call.runtime().streams;
  Code code = streams.fill(stream.id, shape, call.correlation(), async);
  if (code == Code::success && !async && info.kind == AddressInfo::Kind::host_pinned) {
    code = streams.synchronize(stream.id);
  }
  return to_result(code);
}

}  // namespace

CUresult cuMemsetD8_v2(Call& call, CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(call, nullptr, {to, value, 1, count}, false);
}

CUresult cuMemsetD16_v2(Call& call, CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(call, nullptr, {to, value, 2, count}, false);
}

CUresult cuMemsetD32_v2(Call& call, CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill(call, nullptr, {to, value, 4, count}, false);
}

CUresult cuMemsetD8Async(Call& call, CUdeviceptr to, unsigned char value, std::size_t count,
                         CUstream stream) {
  return fill(call, stream, {to, value, 1, count}, true);
}

CUresult cuMemsetD16Async(Call& call, CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(call, stream, {to, value, 2, count}, true);
}

CUresult cuMemsetD32Async(Call& call, CUdeviceptr to, unsigned int value, std::size_t count,
                          CUstream stream) {
  return fill(call, stream, {to, value, 4, count}, true);
}

CUresult cuMemsetD2D8_v2(Call& call, CUdeviceptr to, std::size_t pitch, unsigned char value,
                         std::size_t width, std::size_t height) {
  return fill(call, nullptr, {to, value, 1, width, height, pitch}, false);
}

CUresult cuMemsetD2D8Async(Call& call, CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill(call, stream, {to, value, 1, width, height, pitch}, true);
}

CUresult cuMemsetD2D16_v2(Call& call, CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return fill(call, nullptr, {to, value, 2, width, height, pitch}, false);
}

CUresult cuMemsetD2D16Async(Call& call, CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill(call, stream, {to, value, 2, width, height, pitch}, true);
}

CUresult cuMemsetD2D32_v2(Call& call, CUdeviceptr to, std::size_t pitch, unsigned int value,
                          std::size_t width, std::size_t height) {
  return fill(call, nullptr, {to, value, 4, width, height, pitch}, false);
}

CUresult cuMemsetD2D32Async(Call& call, CUdeviceptr to, std::size_t pitch, unsigned int value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill(call, stream, {to, value, 4, width, height, pitch}, true);
}

}  // namespace symmcts::platform::abi

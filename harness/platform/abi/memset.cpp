// Fills. All forms return at once, except that a fill of pinned host memory is waited for where the
// form is the synchronous one (the driver's "API synchronization behavior").
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

CUresult fill(Call& call, CUstream handle, CUdeviceptr to, std::uint32_t value, int width,
              std::size_t count, bool async) {
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  if (count == 0) return CUDA_SUCCESS;
  const auto bytes_each = static_cast<std::size_t>(width);
  if (to % bytes_each != 0 || count > SIZE_MAX / bytes_each) return CUDA_ERROR_INVALID_VALUE;
  if (foreign(call, *stream.context, to)) return CUDA_ERROR_INVALID_VALUE;
  AddressInfo info;
  const CUresult error =
      check_span(call, *stream.context, to, count * bytes_each, Want::device, info);
  if (error != CUDA_SUCCESS) return error;
  Streams& streams = *call.runtime().streams;
  Code code = streams.fill(stream.id, to, value, width, count, call.correlation(), async);
  if (code == Code::success && !async && info.kind == AddressInfo::Kind::host_pinned) {
    code = streams.synchronize(stream.id);
  }
  return to_result(code);
}

}  // namespace

CUresult cuMemsetD8_v2(Call& call, CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(call, nullptr, to, value, 1, count, false);
}

CUresult cuMemsetD16_v2(Call& call, CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(call, nullptr, to, value, 2, count, false);
}

CUresult cuMemsetD32_v2(Call& call, CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill(call, nullptr, to, value, 4, count, false);
}

CUresult cuMemsetD8Async(Call& call, CUdeviceptr to, unsigned char value, std::size_t count,
                         CUstream stream) {
  return fill(call, stream, to, value, 1, count, true);
}

CUresult cuMemsetD16Async(Call& call, CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(call, stream, to, value, 2, count, true);
}

CUresult cuMemsetD32Async(Call& call, CUdeviceptr to, unsigned int value, std::size_t count,
                          CUstream stream) {
  return fill(call, stream, to, value, 4, count, true);
}

}  // namespace symmcts::platform::abi

// Copies. What waits for the host follows the driver's documented behaviour ("API synchronization
// behavior" in its reference): copies from pageable memory return when the source may be reused,
// copies to pageable memory when they are done, device-to-device copies at once in every form.
#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/span.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

bool pageable(const AddressInfo& info) { return info.kind == AddressInfo::Kind::host_pageable; }

bool host(const AddressInfo& info) {
  return pageable(info) || info.kind == AddressInfo::Kind::host_pinned;
}

struct Request {
  CUdeviceptr destination = 0;
  CUdeviceptr source = 0;
  std::size_t bytes = 0;
  Want destination_want = Want::any;
  Want source_want = Want::any;
  bool async = false;
};

CUresult copy(Call& call, CUstream handle, const Request& request) {
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  // A synchronous call beside a capture of other streams is none of its business (measured for
  // cuMemcpyDtoD, fixtures/oracles/h200-x2/error-table.txt).
  if (!request.async) {
    const CUresult refused = refuse_on_captured(call, stream);
    if (refused != CUDA_SUCCESS) return refused;
  }
  if (request.bytes == 0) return CUDA_SUCCESS;
  CopyEnds ends;
  const CUresult error =
      check_copy(call, *stream.context, request.destination, request.destination_want,
                 request.source, request.source_want, request.bytes, ends);
  if (error != CUDA_SUCCESS) return error;

  // A graph reads and writes pageable memory when it runs.
  const CopySpan span{request.destination, request.source, request.bytes, false, ends.through_host};
  CUresult result = CUDA_SUCCESS;
  if (captured(call, stream, result, [&] { return CopyWork{{span}}; })) return result;
  Streams& streams = *call.runtime().streams;
  if (ends.through_host) {
    return to_result(streams.copies(stream.id, {span}, call.correlation()));
  }
  const bool any_host = host(ends.source) || host(ends.destination);
  const bool wait = (any_host && !request.async) || pageable(ends.destination);
  Code code = streams.copy(stream.id, request.destination, request.source, request.bytes,
                           call.correlation(), request.async);
  if (code == Code::success && wait) code = streams.synchronize(stream.id);
  return to_result(code);
}

CUdeviceptr number(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

CUresult known_contexts(const Call& call, CUcontext first, CUcontext second) {
  for (const CUcontext handle : {first, second}) {
    if (handle != nullptr && !call.runtime().contexts.find(handle)) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemcpy(Call& call, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(call, nullptr, {to, from, bytes, Want::any, Want::any, false});
}

CUresult cuMemcpyAsync(Call& call, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                       CUstream stream) {
  return copy(call, stream, {to, from, bytes, Want::any, Want::any, true});
}

CUresult cuMemcpyHtoD_v2(Call& call, CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(call, nullptr, {to, number(from), bytes, Want::device, Want::any, false});
}

CUresult cuMemcpyHtoDAsync_v2(Call& call, CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy(call, stream, {to, number(from), bytes, Want::device, Want::any, true});
}

CUresult cuMemcpyDtoH_v2(Call& call, void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(call, nullptr, {number(to), from, bytes, Want::any, Want::device, false});
}

CUresult cuMemcpyDtoHAsync_v2(Call& call, void* to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copy(call, stream, {number(to), from, bytes, Want::any, Want::device, true});
}

CUresult cuMemcpyDtoD_v2(Call& call, CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(call, nullptr, {to, from, bytes, Want::device, Want::device, false});
}

CUresult cuMemcpyDtoDAsync_v2(Call& call, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copy(call, stream, {to, from, bytes, Want::device, Want::device, true});
}

CUresult cuMemcpyPeer(Call& call, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  const CUresult error = known_contexts(call, to_context, from_context);
  if (error != CUDA_SUCCESS) return error;
  return copy(call, nullptr, {to, from, bytes, Want::device, Want::device, false});
}

CUresult cuMemcpyPeerAsync(Call& call, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  const CUresult error = known_contexts(call, to_context, from_context);
  if (error != CUDA_SUCCESS) return error;
  return copy(call, stream, {to, from, bytes, Want::device, Want::device, true});
}

}  // namespace symmcts::platform::abi

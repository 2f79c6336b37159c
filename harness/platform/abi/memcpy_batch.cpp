// Copies in batches (cuda.h:cuMemcpyBatchAsync, facts A12.11).
#include <cstdint>
#include <vector>

#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/span.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

struct Batch {
  const CUdeviceptr* destinations;
  const CUdeviceptr* sources;
  const std::size_t* sizes;
  std::size_t count;
  const CUmemcpyAttributes* attributes;
  const std::size_t* indices;
  std::size_t attribute_count;
};

bool valid(const CUmemcpyAttributes& attributes) {
  constexpr unsigned kFlags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  return attributes.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
         attributes.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
         (attributes.flags & ~kFlags) == 0;
}

// Every copy must belong to a valid entry: the first index is 0, they rise, the last is below the
// number of copies.
bool attributes_fit(const Batch& batch) {
  if (batch.attributes == nullptr || batch.indices == nullptr) return false;
  if (batch.attribute_count == 0 || batch.attribute_count > batch.count) return false;
  for (std::size_t i = 0; i < batch.attribute_count; ++i) {
    const bool rises = i == 0 ? batch.indices[i] == 0 : batch.indices[i] > batch.indices[i - 1];
    if (!rises || batch.indices[i] >= batch.count || !valid(batch.attributes[i])) return false;
  }
  return true;
}

bool legacy(const Call& call, CUstream stream) {
  return stream == CU_STREAM_LEGACY || (stream == nullptr && !call.function().per_thread);
}

// A capture refuses a batch and survives (measured, fixtures/oracles/h200-x2/copy-paths.txt).
bool capturing(const Call& call, const Stream& stream) {
  CaptureInfo info;
  return call.runtime().captures.any() &&
         call.runtime().captures.info(capture_stream(stream), info) == Code::success &&
         info.status != CaptureStatus::none;
}

// Checks everything before any of it is enqueued. `failed` is the index of the copy that an error
// is about, SIZE_MAX where it is about none.
CUresult enqueue(Call& call, const Batch& batch, CUstream handle, std::size_t& failed) {
  failed = SIZE_MAX;
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  if (legacy(call, handle)) return CUDA_ERROR_INVALID_VALUE;
  if (capturing(call, stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (batch.destinations == nullptr || batch.sources == nullptr || batch.sizes == nullptr ||
      batch.count == 0 || !attributes_fit(batch)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<CopySpan> spans;
  bool wait = false;
  std::size_t entry = 0;
  for (std::size_t i = 0; i < batch.count; ++i) {
    while (entry + 1 < batch.attribute_count && batch.indices[entry + 1] <= i) ++entry;
    CopyEnds ends;
    const CUresult error = batch.sizes[i] == 0
                               ? CUDA_ERROR_INVALID_VALUE
                               : check_copy(call, *stream.context, batch.destinations[i], Want::any,
                                            batch.sources[i], Want::any, batch.sizes[i], ends);
    if (error != CUDA_SUCCESS) {
      failed = i;
      return error;
    }
    const bool now =
        batch.attributes[entry].srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    spans.push_back(
        {batch.destinations[i], batch.sources[i], batch.sizes[i], now, ends.through_host});
    wait = wait || ends.destination.kind == AddressInfo::Kind::host_pageable;
  }
  Streams& streams = *call.runtime().streams;
  Code code = streams.copies(stream.id, spans, call.correlation());
  // As for single copies: what goes to pageable memory is there when the call returns.
  if (code == Code::success && wait) code = streams.synchronize(stream.id);
  return to_result(code);
}

}  // namespace

CUresult cuMemcpyBatchAsync(Call& call, CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                            std::size_t count, CUmemcpyAttributes* attributes, std::size_t* indices,
                            std::size_t attribute_count, std::size_t* failed, CUstream stream) {
  std::size_t index = SIZE_MAX;
  const CUresult result =
      enqueue(call, {to, from, sizes, count, attributes, indices, attribute_count}, stream, index);
  if (result != CUDA_SUCCESS && failed != nullptr) *failed = index;
  return result;
}

CUresult cuMemcpyBatchAsync_v2(Call& call, CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                               std::size_t count, CUmemcpyAttributes* attributes,
                               std::size_t* indices, std::size_t attribute_count, CUstream stream) {
  std::size_t index = SIZE_MAX;
  return enqueue(call, {to, from, sizes, count, attributes, indices, attribute_count}, stream,
                 index);
}

}  // namespace symmcts::platform::abi

// Stream memory operations. The first and the second version take the same arguments; the second
// one adds the memory barrier as an operation and refuses the flag that leaves it out (measured).
#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/span.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

constexpr unsigned kMaximumOperations = 256;  // cuda.h:cuStreamBatchMemOp

using Operation = WordOperation;

// FLUSH needs attribute 98, which reads 0 here as it does on H200 (stream-memory-ops.txt).
CUresult check_wait_flags(unsigned flags, WordTest& test) {
  if ((flags & ~(CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  test = static_cast<WordTest>(flags);
  return CUDA_SUCCESS;
}

CUresult check_write_flags(unsigned flags, bool second) {
  const unsigned known = second ? 0 : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
  return (flags & ~known) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_place(const Call& call, Context& context, const Operation& operation) {
  const auto width = static_cast<std::size_t>(operation.width);
  if (operation.address % width != 0) return CUDA_ERROR_INVALID_VALUE;
  AddressInfo info;
  const Touch touch = operation.wait ? Touch::reads : Touch::writes;
  const CUresult error =
      check_span(call, context, operation.address, width, Want::device, touch, info);
  if (error != CUDA_SUCCESS) return error;
  static Told told;
  if (operation.wait && info.kind == AddressInfo::Kind::multicast) {
    // A wait reads, and reading a multicast address is undefined.
    return call.not_modelled(told, "a wait on a multicast address");
  }
  return CUDA_SUCCESS;
}

CUresult enqueue(Call& call, const Stream& stream, const std::vector<Operation>& operations) {
  CUresult result = CUDA_SUCCESS;
  if (captured(call, stream, result, [&] { return WordWork{operations}; })) return result;
  Streams& streams = *call.runtime().streams;
  for (const Operation& each : operations) {
    const Code code =
        each.wait ? streams.wait_value(stream.id, each.address, each.value, each.width, each.test)
                  : streams.write_value(stream.id, each.address, each.value, each.width);
    if (code != Code::success) return to_result(code);
  }
  return CUDA_SUCCESS;
}

CUresult write(Call& call, CUstream handle, CUdeviceptr address, std::uint64_t value, int width,
               unsigned flags, bool second) {
  Stream stream;
  CUresult error = call.need_stream(handle, stream);
  if (error == CUDA_SUCCESS) error = check_write_flags(flags, second);
  const Operation operation{false, address, value, width, WordTest::geq};
  if (error == CUDA_SUCCESS) error = check_place(call, *stream.context, operation);
  return error == CUDA_SUCCESS ? enqueue(call, stream, {operation}) : error;
}

CUresult wait(Call& call, CUstream handle, CUdeviceptr address, std::uint64_t value, int width,
              unsigned flags) {
  Stream stream;
  CUresult error = call.need_stream(handle, stream);
  Operation operation{true, address, value, width, WordTest::geq};
  if (error == CUDA_SUCCESS) error = check_wait_flags(flags, operation.test);
  if (error == CUDA_SUCCESS) error = check_place(call, *stream.context, operation);
  return error == CUDA_SUCCESS ? enqueue(call, stream, {operation}) : error;
}

// One element of a batch. `nothing` is set for a barrier: streams run their work in order, so it
// has no effect here.
CUresult read_operation(const CUstreamBatchMemOpParams& params, bool second, Operation& out,
                        bool& nothing) {
  nothing = false;
  switch (params.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      out = {true, params.waitValue.address, params.waitValue.value, 4, WordTest::geq};
      return check_wait_flags(params.waitValue.flags, out.test);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      out = {true, params.waitValue.address, params.waitValue.value64, 8, WordTest::geq};
      return check_wait_flags(params.waitValue.flags, out.test);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      out = {false, params.writeValue.address, params.writeValue.value, 4, WordTest::geq};
      return check_write_flags(params.writeValue.flags, second);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      out = {false, params.writeValue.address, params.writeValue.value64, 8, WordTest::geq};
      return check_write_flags(params.writeValue.flags, second);
    case CU_STREAM_MEM_OP_BARRIER:
      nothing = true;
      return second && params.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// Checks the whole batch before any of it is enqueued.
CUresult batch(Call& call, CUstream handle, unsigned count, const CUstreamBatchMemOpParams* params,
               unsigned flags, bool second) {
  Stream stream;
  if (const CUresult error = call.need_stream(handle, stream); error != CUDA_SUCCESS) return error;
  if (flags != 0 || count > kMaximumOperations || (count > 0 && params == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<Operation> operations;
  for (unsigned i = 0; i < count; ++i) {
    Operation operation;
    bool nothing = false;
    CUresult error = read_operation(params[i], second, operation, nothing);
    if (error == CUDA_SUCCESS && !nothing) error = check_place(call, *stream.context, operation);
    if (error != CUDA_SUCCESS) return error;
    if (!nothing) operations.push_back(operation);
  }
  return operations.empty() ? CUDA_SUCCESS : enqueue(call, stream, operations);
}

}  // namespace

CUresult cuStreamWriteValue32(Call& call, CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
  return write(call, stream, address, value, 4, flags, false);
}

CUresult cuStreamWriteValue32_v2(Call& call, CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags) {
  return write(call, stream, address, value, 4, flags, true);
}

CUresult cuStreamWriteValue64(Call& call, CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned int flags) {
  return write(call, stream, address, value, 8, flags, false);
}

CUresult cuStreamWriteValue64_v2(Call& call, CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags) {
  return write(call, stream, address, value, 8, flags, true);
}

CUresult cuStreamWaitValue32(Call& call, CUstream stream, CUdeviceptr address, cuuint32_t value,
                             unsigned int flags) {
  return wait(call, stream, address, value, 4, flags);
}

CUresult cuStreamWaitValue32_v2(Call& call, CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags) {
  return wait(call, stream, address, value, 4, flags);
}

CUresult cuStreamWaitValue64(Call& call, CUstream stream, CUdeviceptr address, cuuint64_t value,
                             unsigned int flags) {
  return wait(call, stream, address, value, 8, flags);
}

CUresult cuStreamWaitValue64_v2(Call& call, CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned int flags) {
  return wait(call, stream, address, value, 8, flags);
}

CUresult cuStreamBatchMemOp(Call& call, CUstream stream, unsigned int count,
                            CUstreamBatchMemOpParams* params, unsigned int flags) {
  return batch(call, stream, count, params, flags, false);
}

CUresult cuStreamBatchMemOp_v2(Call& call, CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams* params, unsigned int flags) {
  return batch(call, stream, count, params, flags, true);
}

}  // namespace symmcts::platform::abi

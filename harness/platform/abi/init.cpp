// cuInit and what may be called before it.
#include <algorithm>

#include "harness/platform/abi/call.hpp"
#include "harness/platform/abi/lookup.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// The model's codes carry the driver's numbers.
#define SYMMCTS_SAME(code, result) \
  static_assert(static_cast<int>(Code::code) == static_cast<int>(CUDA_##result))
SYMMCTS_SAME(success, SUCCESS);
SYMMCTS_SAME(invalid_value, ERROR_INVALID_VALUE);
SYMMCTS_SAME(out_of_memory, ERROR_OUT_OF_MEMORY);
SYMMCTS_SAME(not_initialized, ERROR_NOT_INITIALIZED);
SYMMCTS_SAME(deinitialized, ERROR_DEINITIALIZED);
SYMMCTS_SAME(invalid_device, ERROR_INVALID_DEVICE);
SYMMCTS_SAME(invalid_context, ERROR_INVALID_CONTEXT);
SYMMCTS_SAME(illegal_state, ERROR_ILLEGAL_STATE);
SYMMCTS_SAME(invalid_handle, ERROR_INVALID_HANDLE);
SYMMCTS_SAME(not_found, ERROR_NOT_FOUND);
SYMMCTS_SAME(not_ready, ERROR_NOT_READY);
SYMMCTS_SAME(illegal_address, ERROR_ILLEGAL_ADDRESS);
SYMMCTS_SAME(not_permitted, ERROR_NOT_PERMITTED);
SYMMCTS_SAME(not_supported, ERROR_NOT_SUPPORTED);
SYMMCTS_SAME(system_not_ready, ERROR_SYSTEM_NOT_READY);
SYMMCTS_SAME(stream_capture_unsupported, ERROR_STREAM_CAPTURE_UNSUPPORTED);
SYMMCTS_SAME(stream_capture_invalidated, ERROR_STREAM_CAPTURE_INVALIDATED);
SYMMCTS_SAME(stream_capture_merge, ERROR_STREAM_CAPTURE_MERGE);
SYMMCTS_SAME(stream_capture_unmatched, ERROR_STREAM_CAPTURE_UNMATCHED);
SYMMCTS_SAME(stream_capture_unjoined, ERROR_STREAM_CAPTURE_UNJOINED);
SYMMCTS_SAME(stream_capture_isolation, ERROR_STREAM_CAPTURE_ISOLATION);
SYMMCTS_SAME(stream_capture_implicit, ERROR_STREAM_CAPTURE_IMPLICIT);
SYMMCTS_SAME(captured_event, ERROR_CAPTURED_EVENT);
SYMMCTS_SAME(stream_capture_wrong_thread, ERROR_STREAM_CAPTURE_WRONG_THREAD);
SYMMCTS_SAME(unknown, ERROR_UNKNOWN);
#undef SYMMCTS_SAME
static_assert(kHandlePosixFd == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(kHandleFabric == CU_MEM_HANDLE_TYPE_FABRIC);

const ErrorName* find_error(CUresult error) {
  const ErrorName* end = kErrorNames + kErrorNamesSize;
  const ErrorName* at = std::find_if(kErrorNames, end, [&](const ErrorName& entry) {
    return entry.code == static_cast<int>(error);
  });
  return at == end ? nullptr : at;
}

}  // namespace

CUresult cuInit(Call&, unsigned int flags) {
  return flags == 0 ? Runtime::start() : CUDA_ERROR_INVALID_VALUE;
}

// Before cuInit no machine is known, so the answer is the version of the headers.
CUresult cuDriverGetVersion(Call& call, int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Runtime* runtime = Runtime::get();
  *version = runtime == nullptr ? CUDA_VERSION : call.runtime().profile.driver_version.value;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(Call&, CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorName* found = find_error(error);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(Call&, CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ErrorName* found = find_error(error);
  *text = found == nullptr ? nullptr : found->words;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

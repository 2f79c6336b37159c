// The primary context of each device: one object a device, active while it is retained.
#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

std::mutex primary_mutex;  // retain and release of one device against each other

std::shared_ptr<Context>& slot(Runtime& runtime, CUdevice device) {
  return runtime.primary[static_cast<std::size_t>(device)];
}

// Precondition: primary_mutex is held.
std::shared_ptr<Context> primary_of(Runtime& runtime, CUdevice device) {
  auto& context = slot(runtime, device);
  if (!context) {
    context = runtime.make_context(device, true, 0);
    context->alive = false;
  }
  return context;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(Call& call, CUcontext* out, CUdevice device) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(primary_mutex);
  const auto context = primary_of(call.runtime(), device);
  ++context->references;
  context->alive = true;
  *out = context->handle;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(Call& call, CUdevice device) {
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(primary_mutex);
  const auto context = primary_of(call.runtime(), device);
  if (context->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--context->references == 0) call.runtime().end_context(context);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(Call& call, CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(call, device);
}

CUresult cuDevicePrimaryCtxReset_v2(Call& call, CUdevice device) {
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(primary_mutex);
  const auto context = primary_of(call.runtime(), device);
  if (context->alive) call.runtime().end_context(context);
  context->alive = context->references > 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(Call& call, CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(call, device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(Call& call, CUdevice device, unsigned int flags) {
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  if ((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(primary_mutex);
  primary_of(call.runtime(), device)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(Call& call, CUdevice device, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(call, device, flags);
}

CUresult cuDevicePrimaryCtxGetState(Call& call, CUdevice device, unsigned int* flags, int* active) {
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(primary_mutex);
  const auto context = primary_of(call.runtime(), device);
  *flags = context->flags;
  *active = context->alive ? 1 : 0;
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

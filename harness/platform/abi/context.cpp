// Contexts: creation, the per-thread stack, peer access.
#include <string>

#include "harness/platform/abi/call.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// cuda.h:CUctx_flags that a CPU thread's waiting may use; they change nothing here.
constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

// A handle's context, or the current one for null.
CUresult find_context(const Call& call, CUcontext handle, std::shared_ptr<Context>& out) {
  if (handle == nullptr) return call.need_context(out);
  out = call.runtime().contexts.find(handle);
  if (!out) return CUDA_ERROR_INVALID_CONTEXT;
  return out->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult create(Call& call, CUcontext* out, unsigned flags, CUdevice device) {
  if (out == nullptr || (flags & ~kContextFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!call.runtime().valid_ordinal(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto context = call.runtime().make_context(device, false, flags);
  context_stack().push_back(context);
  *out = context->handle;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuCtxCreate(Call& call, CUcontext* out, unsigned int flags, CUdevice device) {
  return create(call, out, flags, device);
}

CUresult cuCtxCreate_v2(Call& call, CUcontext* out, unsigned int flags, CUdevice device) {
  return create(call, out, flags, device);
}

CUresult cuCtxCreate_v3(Call& call, CUcontext* out, CUexecAffinityParam*, int count,
                        unsigned int flags, CUdevice device) {
  static Told told;
  if (count != 0) return call.not_modelled(told, "execution affinity");
  return create(call, out, flags, device);
}

CUresult cuCtxCreate_v4(Call& call, CUcontext* out, CUctxCreateParams* params, unsigned int flags,
                        CUdevice device) {
  static Told told;
  if (params != nullptr && (params->numExecAffinityParams != 0 || params->cigParams != nullptr)) {
    return call.not_modelled(told, "execution affinity or a shared-data context");
  }
  return create(call, out, flags, device);
}

CUresult cuCtxDestroy_v2(Call& call, CUcontext handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto context = call.runtime().contexts.find(handle);
  if (!context || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  call.runtime().end_context(context);
  call.runtime().contexts.take(handle);
  auto& stack = context_stack();
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(Call& call, CUcontext handle) { return cuCtxDestroy_v2(call, handle); }

CUresult cuCtxPushCurrent_v2(Call& call, CUcontext handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  std::shared_ptr<Context> context;
  if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
    return error;
  }
  context_stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(Call& call, CUcontext handle) {
  return cuCtxPushCurrent_v2(call, handle);
}

CUresult cuCtxPopCurrent_v2(Call&, CUcontext* out) {
  auto& stack = context_stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (out != nullptr) *out = stack.back() ? stack.back()->handle : nullptr;
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(Call& call, CUcontext* out) { return cuCtxPopCurrent_v2(call, out); }

// Replaces the top of the thread's stack; null takes it away (cuda.h:cuCtxSetCurrent).
CUresult cuCtxSetCurrent(Call& call, CUcontext handle) {
  auto& stack = context_stack();
  std::shared_ptr<Context> context;
  if (handle != nullptr) {
    if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
      return error;
    }
  }
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(Call&, CUcontext* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto context = current_context();
  *out = context ? context->handle : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(Call& call, CUdevice* device, CUcontext handle) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
    return error;
  }
  *device = context->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(Call& call, CUdevice* device) {
  return cuCtxGetDevice_v2(call, device, nullptr);
}

CUresult cuCtxGetId(Call& call, CUcontext handle, unsigned long long* id) {
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
    return error;
  }
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(Call& call, unsigned int* flags) {
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(Call& call, unsigned int flags) {
  if ((flags & ~kContextFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  context->flags = flags;
  return CUDA_SUCCESS;
}

// 3020 for every context made through the second or a later version of cuCtxCreate (cuda.h).
CUresult cuCtxGetApiVersion(Call& call, CUcontext handle, unsigned int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
    return error;
  }
  *version = 3020;
  return CUDA_SUCCESS;
}

// The range of NVIDIA data-centre GPUs since compute capability 7.0: 0 to -5. Priorities are kept
// and reported, but the copy engines serve first in, first out.
CUresult cuCtxGetStreamPriorityRange(Call& call, int* least, int* greatest) {
  std::shared_ptr<Context> context;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(Call& call, CUcontext handle) {
  std::shared_ptr<Context> context;
  if (const CUresult error = find_context(call, handle, context); error != CUDA_SUCCESS) {
    return error;
  }
  const Code code = call.runtime().captures.touch_context(context->id);
  if (code != Code::success) return to_result(code);
  return to_result(call.runtime().streams->synchronize_device(context->ordinal));
}

CUresult cuCtxSynchronize(Call& call) { return cuCtxSynchronize_v2(call, nullptr); }

CUresult cuCtxEnablePeerAccess(Call& call, CUcontext handle, unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context, peer;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult error = find_context(call, handle, peer); error != CUDA_SUCCESS) return error;
  // Measured (oracles/h200-x2).
  if (peer->ordinal == context->ordinal) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  const std::lock_guard lock(context->mutex);
  return context->peers.insert(peer->ordinal).second ? CUDA_SUCCESS
                                                     : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(Call& call, CUcontext handle) {
  std::shared_ptr<Context> context, peer;
  if (const CUresult error = call.need_context(context); error != CUDA_SUCCESS) return error;
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (const CUresult error = find_context(call, handle, peer); error != CUDA_SUCCESS) return error;
  const std::lock_guard lock(context->mutex);
  return context->peers.erase(peer->ordinal) == 1 ? CUDA_SUCCESS
                                                  : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace symmcts::platform::abi

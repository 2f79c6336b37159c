#include "harness/platform/abi/call.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "harness/platform/abi/capture.hpp"
#include "harness/platform/abi/cupti_link.hpp"
#include "harness/platform/abi/faults.hpp"
#include "harness/platform/process/race_trace.hpp"

namespace symmcts::platform::abi {
namespace {

std::atomic<std::uint32_t> last_correlation{0};
thread_local bool inside_host_function = false;
thread_local bool inside_callback = false;

// Per-thread default streams of this thread, by context id. They live until their context ends.
thread_local std::map<std::uint32_t, Stream> thread_streams;

Stream default_stream(Runtime& runtime, const std::shared_ptr<Context>& context) {
  Stream out;
  out.id = runtime.streams->default_stream(context->ordinal);
  out.context = context;
  runtime.records.belongs(out.id, context->id);
  return out;
}

Stream thread_stream(Runtime& runtime, const std::shared_ptr<Context>& context) {
  const auto known = thread_streams.find(context->id);
  if (known != thread_streams.end() && runtime.streams->known(known->second.id)) {
    return known->second;
  }
  auto made = std::make_shared<Stream>();
  made->context = context;
  made->id = runtime.streams->create(context->ordinal, false);
  runtime.records.belongs(made->id, context->id);
  made->of_thread = true;
  runtime.stream_handles.insert(made);  // so that the end of the context ends it
  thread_streams[context->id] = *made;
  return *made;
}

}  // namespace

void Call::raise(bool exit, CUresult* result) {
  const auto context = current_context();
  ApiEvent event;
  event.exit = exit;
  event.function = function_.elf;
  event.cbid = function_.cbid;
  event.params = params_;
  event.result = result;
  event.context = context ? context->handle : nullptr;
  event.context_id = context ? context->id : 0;
  event.correlation = correlation_;
  event.scratch = &scratch_;
  event.start = &start_;
  inside_callback = true;
  cupti_hooks()->api(event);
  inside_callback = false;
}

CUresult Call::begin() {
  correlation_ = last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  runtime_ = Runtime::get();
  around_ = enter_function(function_.api);
  nested_ = inside_callback;
  if (runtime_ != nullptr && !nested_ && !inside_host_function) {
    runtime_->client->calls(function_.api);
    if (runtime_->faults->any()) due_ = runtime_->faults->call(function_.api);
    if (!due_.faults.empty()) befall_around(*runtime_, due_, RankFault::When::before);
    RaceTrace::in_call(function_.api, correlation_);
  }
  if (traced() && runtime_ != nullptr) before_ = runtime_->streams->now();
  CUresult result = CUDA_SUCCESS;
  if (!inside_callback && function_.cbid != 0 && cupti_hooks() != nullptr) {
    entered_ = true;
    raise(false, &result);
  }
  if (function_.admit == Admit::after_init) {
    if (runtime_ == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    if (inside_host_function) return CUDA_ERROR_NOT_PERMITTED;  // cuda.h:cuLaunchHostFunc
    if (runtime_->captures.any() && unsafe_in_capture(function_.api)) {
      if (const CUresult error = refuse_unsafe(*this); error != CUDA_SUCCESS) return error;
    }
  }
  // A host function runs on the executor, whose time is not the host's.
  if (runtime_ != nullptr && function_.charges == Who::call && !inside_callback &&
      !inside_host_function) {
    runtime_->streams->spend(function_.api);
  }
  // A call that fails by the scenario does nothing, and no hold sees it.
  if (!due_.faults.empty()) {
    const CUresult result = befall_within(*runtime_, due_, function_.api);
    if (result != CUDA_SUCCESS) return result;
  }
  if (gated()) pass_gate();
  return CUDA_SUCCESS;
}

// Without a scenario no machine has holds, and the way to the broker is spared.
bool Call::gated() const {
  return function_.admit == Admit::after_init && function_.gates == Who::call && !inside_callback &&
         !runtime_->environment.join.scenario.empty();
}

void Call::pass_gate() {
  CallTime time;
  time.now = time.at = runtime_->streams->now();
  runtime_->streams->enter_blocking(function_.api);
  runtime_->client->before(time, function_.api, 0);
  runtime_->streams->leave_blocking(std::max(time.now, time.at));
}

CUresult Call::end(CUresult result) {
  if (result == CUDA_SUCCESS && runtime_ != nullptr && gated()) {
    CallTime time;
    time.now = time.at = runtime_->streams->now();
    runtime_->client->passed(time, function_.api, 0);
  }
  if (entered_) raise(true, &result);
  if (!due_.faults.empty()) befall_around(*runtime_, due_, RankFault::When::after);
  leave_function(around_);
  if (traced()) {
    const Runtime* runtime = Runtime::get();  // cuInit has just made it
    if (runtime != nullptr) after_ = runtime->streams->now();
  }
  return result;
}

void Call::print(const TraceLine& line, CUresult result) const {
  const Runtime* runtime = Runtime::get();
  line.print(runtime == nullptr ? -1 : runtime->client->machine().rank, before_, after_, result);
}

CUresult Call::not_modelled(Told& told) const {
  if (!told.exchange(true)) say(std::string(function_.elf) + " is not modelled");
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult Call::not_modelled(Told& told, const char* what) const {
  if (!told.exchange(true)) say(std::string(function_.elf) + ": " + what + " is not modelled");
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult Call::need_context(std::shared_ptr<Context>& out) const {
  out = current_context();
  if (!out) return CUDA_ERROR_INVALID_CONTEXT;
  if (!out->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return to_result(runtime_->streams->sticky_error());
}

CUresult Call::need_stream(CUstream handle, Stream& out) const {
  std::shared_ptr<Context> context;
  if (const CUresult error = need_context(context); error != CUDA_SUCCESS) return error;
  return resolve_stream(*runtime_, context, handle, function_.per_thread, out);
}

CUresult resolve_stream(Runtime& runtime, const std::shared_ptr<Context>& context, CUstream handle,
                        bool per_thread, Stream& out) {
  if (handle == CU_STREAM_PER_THREAD || (handle == nullptr && per_thread)) {
    out = thread_stream(runtime, context);
    return CUDA_SUCCESS;
  }
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    out = default_stream(runtime, context);
    return CUDA_SUCCESS;
  }
  const auto found = runtime.stream_handles.find(handle);
  if (!found) return CUDA_ERROR_INVALID_HANDLE;
  out = *found;
  return CUDA_SUCCESS;
}

std::vector<std::shared_ptr<Context>>& context_stack() {
  thread_local std::vector<std::shared_ptr<Context>> stack;
  return stack;
}

std::shared_ptr<Context> current_context() {
  const auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}

std::function<void()> host_function(std::function<void()> function) {
  return [function = std::move(function)] {
    inside_host_function = true;
    function();
    inside_host_function = false;
  };
}

}  // namespace symmcts::platform::abi

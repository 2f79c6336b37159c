#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "harness/platform/abi/misuse.hpp"
#include "harness/platform/abi/runtime.hpp"
#include "harness/platform/abi/trace.hpp"
#include "harness/platform/model/fault_plan.hpp"

namespace symmcts::platform::abi {

enum class Admit : std::uint8_t { always, after_init };
enum class Who : std::uint8_t { call, model };

// An exported function, as the generated code describes it.
struct Function {
  const char* elf;     // exported name, also the one that CUPTI callbacks carry
  const char* api;     // name without version suffix: what profiles and scenarios speak of
  std::uint32_t cbid;  // CUPTI's callback id; 0 where the headers have none
  bool per_thread;     // a null stream means the thread's own default stream
  Admit admit;
  Who charges;  // takes the call's cost from the host clock
  Who gates;    // asks whether a hold of the scenario applies
};

using Told = std::atomic<bool>;

// One driver call in progress. begin() gives it a correlation id, raises the CUPTI enter callback,
// charges the host clock, lets the scenario's faults and holds act, and says whether the call may
// go on; end() raises the exit callback. Calls that a CUPTI client makes from its callbacks raise
// none and cost no virtual time, so that being watched changes nothing. The functions between them
// answer what every call needs, in the order in which the driver reports errors: not initialized,
// no context, bad stream.
class Call {
 public:
  Call(const Function& function, const void* params) : function_(function), params_(params) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  CUresult begin();
  CUresult end(CUresult result);
  // Prints the call's line of the trace; after end(), and only while tracing.
  void print(const TraceLine& line, CUresult result) const;
  // Calls that a CUPTI client makes from its callbacks are not part of the trace.
  bool traced() const { return tracing() && !nested_; }

  // For a function that the platform does not model: names it once on stderr.
  CUresult not_modelled(Told& told) const;
  // For a variant or option that it does not model: says `what` (once for each call site).
  CUresult not_modelled(Told& told, const char* what) const;

  Runtime& runtime() const { return *runtime_; }
  std::uint32_t correlation() const { return correlation_; }
  const Function& function() const { return function_; }

  // The context that is current on this thread. INVALID_CONTEXT without one,
  // CONTEXT_IS_DESTROYED if it has ended, a sticky error of device work if there is one.
  CUresult need_context(std::shared_ptr<Context>& out) const;
  // The stream that a handle means to this call: null and the two special values are default
  // streams of the current context. Also requires a current context.
  CUresult need_stream(CUstream handle, Stream& out) const;

 private:
  const Function& function_;
  const void* params_;
  Runtime* runtime_ = nullptr;
  std::uint32_t correlation_ = 0;
  void raise(bool exit, CUresult* result);
  bool gated() const;
  void pass_gate();

  const char* around_ = nullptr;  // the function that this thread was in before
  bool nested_ = false;           // made from a CUPTI callback
  FaultPlan::Due due_;            // of the scenario's faults
  Ns before_ = 0, after_ = 0;     // host clock, while tracing
  bool entered_ = false;          // the enter callback was raised, so the exit callback is due
  std::uint64_t scratch_ = 0;     // CUPTI's correlationData, from enter to exit
  std::uint64_t start_ = 0;       // libcupti's own, likewise
};

// The whole of an exported function: `body` runs if the call is admitted, `arguments` puts them
// into a line of the trace if there is one.
template <typename Body, typename Arguments>
CUresult run(const Function& function, const void* params, Body body, Arguments arguments) {
  Call call(function, params);
  CUresult result = call.begin();
  if (result == CUDA_SUCCESS) result = body(call);
  result = call.end(result);
  if (call.traced()) {
    TraceLine line(function.elf);
    arguments(line);
    call.print(line, result);
  }
  return result;
}

// What need_stream does once the context is known. INVALID_HANDLE for a stream that does not exist.
CUresult resolve_stream(Runtime& runtime, const std::shared_ptr<Context>& context, CUstream handle,
                        bool per_thread, Stream& out);

// The calling thread's stack of contexts; the last one is current. Entries may be null.
std::vector<std::shared_ptr<Context>>& context_stack();
std::shared_ptr<Context> current_context();

// Wraps a client's function for the executor: calls of the driver from inside it are refused with
// NOT_PERMITTED (cuda.h:cuLaunchHostFunc).
std::function<void()> host_function(std::function<void()> function);

}  // namespace symmcts::platform::abi

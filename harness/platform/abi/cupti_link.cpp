#include "harness/platform/abi/cupti_link.hpp"

#include <atomic>

#include "harness/platform/abi/call.hpp"

namespace symmcts::platform::abi {
namespace {

std::atomic<const CuptiHooks*> attached{nullptr};

void attach(const CuptiHooks* hooks) { attached.store(hooks, std::memory_order_release); }

Ns now() {
  const Runtime* runtime = Runtime::get();
  return runtime == nullptr ? 0 : runtime->streams->now();
}

std::shared_ptr<Context> find(CUcontext handle) {
  if (handle == nullptr) return current_context();
  Runtime* runtime = Runtime::get();
  return runtime == nullptr ? nullptr : runtime->contexts.find(handle);
}

bool context_id(CUcontext handle, std::uint32_t* id) {
  const auto context = find(handle);
  if (context) *id = context->id;
  return context != nullptr;
}

bool context_device(CUcontext handle, int* ordinal) {
  const auto context = find(handle);
  if (context) *ordinal = context->ordinal;
  return context != nullptr;
}

bool stream_id(CUcontext handle, CUstream stream, bool per_thread, std::uint32_t* id) {
  Runtime* runtime = Runtime::get();
  const auto context = find(handle);
  if (runtime == nullptr || !context) return false;
  Stream found;
  if (resolve_stream(*runtime, context, stream, per_thread, found) != CUDA_SUCCESS) return false;
  *id = found.id;
  return true;
}

bool graph_id(CUgraph handle, std::uint32_t* id) {
  Runtime* runtime = Runtime::get();
  const auto object = runtime == nullptr ? nullptr : runtime->graphs.graphs.find(handle);
  if (object) *id = object->graph->id;
  return object != nullptr;
}

bool graph_node_id(CUgraphNode handle, std::uint64_t* id) {
  Runtime* runtime = Runtime::get();
  const auto object = runtime == nullptr ? nullptr : runtime->graphs.nodes.find(handle);
  if (!object || object->graph.expired()) return false;
  *id = object->node->id;
  return true;
}

bool graph_exec_id(CUgraphExec handle, std::uint32_t* id) {
  Runtime* runtime = Runtime::get();
  const auto object = runtime == nullptr ? nullptr : runtime->graphs.execs.find(handle);
  if (object) *id = object->exec->id;
  return object != nullptr;
}

constexpr DriverLink kLink{kCuptiLinkVersion, attach,   now,           context_id,   context_device,
                           stream_id,         graph_id, graph_node_id, graph_exec_id};

}  // namespace

const CuptiHooks* cupti_hooks() { return attached.load(std::memory_order_acquire); }

}  // namespace symmcts::platform::abi

extern "C" __attribute__((visibility("default"))) const symmcts::platform::abi::DriverLink*
symmcts_driver_link() {
  return &symmcts::platform::abi::kLink;
}

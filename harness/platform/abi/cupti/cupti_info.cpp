// Versions, names, ids and the clock.
#include <algorithm>

#include "harness/platform/abi/cupti/cupti_state.hpp"

using namespace symmcts::platform::cupti;

namespace {

const char* find_name(const CuptiName* names, std::size_t count, unsigned number) {
  const CuptiName* end = names + count;
  const CuptiName* at = std::lower_bound(
      names, end, number, [](const CuptiName& entry, unsigned n) { return entry.number < n; });
  return at == end || at->number != number ? nullptr : at->name;
}

}  // namespace

SYMMCTS_CUPTI cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* found = nullptr;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) found = find_name(kDriverNames, kDriverNamesSize, cbid);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    found = find_name(kRuntimeNames, kRuntimeNamesSize, cbid);
  }
  if (found == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = found;
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *text = find_name(kResultNames, kResultNamesSize, static_cast<unsigned>(result));
  return *text == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

// The virtual host clock; 0 until cuInit has joined a machine.
SYMMCTS_CUPTI cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  *timestamp = driver()->now();
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  return driver()->context_id(context, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}

SYMMCTS_CUPTI cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  int ordinal = 0;
  if (!driver()->context_device(context, &ordinal)) return CUPTI_ERROR_INVALID_CONTEXT;
  *id = static_cast<uint32_t>(ordinal);
  return CUPTI_SUCCESS;
}

SYMMCTS_CUPTI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                                 uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  std::uint32_t known = 0;
  if (!driver()->context_id(context, &known)) return CUPTI_ERROR_INVALID_CONTEXT;
  return driver()->stream_id(context, stream, per_thread != 0, id) ? CUPTI_SUCCESS
                                                                   : CUPTI_ERROR_INVALID_STREAM;
}

SYMMCTS_CUPTI cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

// Records of graph launches carry the ids of the executable graph and of its own copies of the
// nodes.
SYMMCTS_CUPTI cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (graph == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  return driver()->graph_id(graph, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

SYMMCTS_CUPTI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  return driver()->graph_node_id(node, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

SYMMCTS_CUPTI cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  if (exec == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (driver() == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  return driver()->graph_exec_id(exec, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

// What a graph holds: nodes, edges, types.
#include <algorithm>
#include <utility>
#include <vector>

#include "harness/platform/abi/graph_handles.hpp"
#include "modelled.hpp"

namespace symmcts::platform::abi {
namespace {

// The rule of every list in cuda.h's graph queries: without an array the number is wanted; an array
// that is longer than the list is filled up with null.
template <typename Item>
void fill(Item* out, std::size_t room, const std::vector<Item>& items) {
  if (out == nullptr) return;
  for (std::size_t i = 0; i < room; ++i) out[i] = i < items.size() ? items[i] : Item{};
}

CUresult list_nodes(CUgraphNode* out, std::size_t* count, const std::vector<CUgraphNode>& nodes) {
  const std::size_t room = *count;
  fill(out, room, nodes);
  *count = out == nullptr ? nodes.size() : std::min(room, nodes.size());
  return CUDA_SUCCESS;
}

CUresult nodes(Call& call, CUgraph handle, CUgraphNode* out, std::size_t* count, bool roots) {
  const auto object = call.runtime().graphs.graphs.find(handle);
  if (!object || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> found;
  for (const auto& node : object->graph->nodes()) {
    if (roots && !node->dependencies.empty()) continue;
    found.push_back(call.runtime().graphs.name(object->graph, *node));
  }
  return list_nodes(out, count, found);
}

CUresult edges(Call& call, CUgraph handle, CUgraphNode* from, CUgraphNode* to,
               CUgraphEdgeData* data, std::size_t* count) {
  const auto object = call.runtime().graphs.graphs.find(handle);
  if (!object || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  GraphHandles& handles = call.runtime().graphs;
  std::vector<CUgraphNode> starts, ends;
  for (const auto& node : object->graph->nodes()) {
    for (GraphNode* before : node->dependencies) {
      starts.push_back(handles.name(object->graph, *before));
      ends.push_back(handles.name(object->graph, *node));
    }
  }
  const std::size_t room = *count;
  fill(from, room, starts);
  if (from != nullptr && data != nullptr) std::fill_n(data, room, CUgraphEdgeData{});
  return list_nodes(to, count, ends);
}

CUresult dependencies(Call& call, CUgraphNode handle, CUgraphNode* out, CUgraphEdgeData* data,
                      std::size_t* count) {
  const auto object = call.runtime().graphs.nodes.find(handle);
  if (!object || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto graph = object->graph.lock();
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUgraphNode> found;
  for (GraphNode* before : object->node->dependencies) {
    found.push_back(call.runtime().graphs.name(graph, *before));
  }
  if (out != nullptr && data != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  return list_nodes(out, count, found);
}

// In the order of GraphWork.
constexpr CUgraphNodeType kTypes[] = {
    CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
    CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_EMPTY,  CU_GRAPH_NODE_TYPE_EVENT_RECORD,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH};
static_assert(std::size(kTypes) == std::variant_size_v<GraphWork>);

}  // namespace

CUresult cuGraphGetNodes(Call& call, CUgraph graph, CUgraphNode* out, std::size_t* count) {
  return nodes(call, graph, out, count, false);
}

CUresult cuGraphGetRootNodes(Call& call, CUgraph graph, CUgraphNode* out, std::size_t* count) {
  return nodes(call, graph, out, count, true);
}

CUresult cuGraphGetEdges(Call& call, CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                         std::size_t* count) {
  return edges(call, graph, from, to, nullptr, count);
}

CUresult cuGraphGetEdges_v2(Call& call, CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, std::size_t* count) {
  return edges(call, graph, from, to, data, count);
}

CUresult cuGraphNodeGetDependencies(Call& call, CUgraphNode node, CUgraphNode* out,
                                    std::size_t* count) {
  return dependencies(call, node, out, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(Call& call, CUgraphNode node, CUgraphNode* out,
                                       CUgraphEdgeData* data, std::size_t* count) {
  return dependencies(call, node, out, data, count);
}

CUresult cuGraphNodeGetType(Call& call, CUgraphNode handle, CUgraphNodeType* type) {
  const auto object = call.runtime().graphs.nodes.find(handle);
  if (!object || type == nullptr || object->graph.expired()) return CUDA_ERROR_INVALID_VALUE;
  *type = kTypes[object->node->work.index()];
  return CUDA_SUCCESS;
}

}  // namespace symmcts::platform::abi

#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>

#include "harness/platform/abi/handles.hpp"
#include "harness/platform/process/graph_exec.hpp"

namespace symmcts::platform::abi {

struct GraphObject {
  CUgraph handle = nullptr;
  std::shared_ptr<Graph> graph;
};

struct NodeObject {
  CUgraphNode handle = nullptr;
  std::weak_ptr<Graph> graph;
  GraphNode* node = nullptr;  // lives as long as the graph
};

struct ExecObject {
  CUgraphExec handle = nullptr;
  std::shared_ptr<GraphExec> exec;
  std::shared_ptr<const Graph> graph;  // what it was made from, for captures of its launch
  unsigned long long flags = 0;
};

// The handles of graphs, their nodes and executable graphs. Graphs and nodes get theirs when the
// application first sees them. Thread safe.
class GraphHandles {
 public:
  HandleTable<GraphObject, CUgraph> graphs{0x64a9000000, "graph"};
  HandleTable<NodeObject, CUgraphNode> nodes{0x40de000000, "graph node"};
  HandleTable<ExecObject, CUgraphExec> execs{0xe8ec000000, "executable graph"};

  CUgraph name(const std::shared_ptr<Graph>& graph) {
    const std::lock_guard lock(mutex_);
    if (graph->handle == nullptr) {
      auto object = std::make_shared<GraphObject>();
      object->graph = graph;
      graph->handle = graphs.insert(object);
    }
    return static_cast<CUgraph>(graph->handle);
  }

  CUgraphNode name(const std::shared_ptr<Graph>& graph, GraphNode& node) {
    const std::lock_guard lock(mutex_);
    if (node.handle == nullptr) {
      auto object = std::make_shared<NodeObject>();
      object->graph = graph;
      object->node = &node;
      node.handle = nodes.insert(object);
    }
    return static_cast<CUgraphNode>(node.handle);
  }

  // False where there is no such graph.
  bool destroy(CUgraph handle) {
    const auto object = graphs.take(handle);
    if (!object) return false;
    for (const auto& node : object->graph->nodes()) {
      if (node->handle != nullptr) nodes.take(static_cast<CUgraphNode>(node->handle));
    }
    return true;
  }

 private:
  std::mutex mutex_;
};

}  // namespace symmcts::platform::abi

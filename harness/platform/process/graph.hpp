#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "harness/platform/process/streams.hpp"

namespace symmcts::platform {

class Graph;

// What a node does when its graph is launched.
struct CopyWork {
  std::vector<CopySpan> spans;
};
struct FillWork {
  FillShape shape;
};
struct WordOperation {
  bool wait = false;
  std::uint64_t address = 0;
  std::uint64_t value = 0;
  int width = 4;
  WordTest test = WordTest::geq;
};
struct WordWork {
  std::vector<WordOperation> operations;  // in order
};
struct HostWork {
  std::function<void()> function;
};
struct EmptyWork {};
// Events recorded or waited for as "external": the launch acts on the event as a stream would.
struct RecordWork {
  EventId event = 0;
};
struct WaitWork {
  EventId event = 0;
};
struct ChildWork {
  std::shared_ptr<const Graph> graph;
};
using GraphWork = std::variant<CopyWork, FillWork, WordWork, HostWork, EmptyWork, RecordWork,
                               WaitWork, ChildWork>;

// A node's id: its graph's in the upper half, its place in the lower one (measured,
// fixtures/oracles/h200-x2/copy-paths.txt, for the lower one).
inline std::uint64_t node_id(std::uint32_t graph, std::uint64_t place) {
  return std::uint64_t{graph} << 32 | place;
}

struct GraphNode {
  std::uint64_t id = 0;
  GraphWork work;
  StreamId stream = 0;                   // on which it was captured
  int ordinal = 0;                       // of the device that does it
  std::vector<GraphNode*> dependencies;  // earlier nodes of the same graph
  void* handle = nullptr;                // the API's name for it; kept by abi/
};

// A graph of device work, as stream capture makes it. Nodes are only ever added, each behind
// earlier ones, so their order is a topological one. Not thread safe (cuda.h: "graph objects are
// not internally synchronized").
class Graph {
 public:
  explicit Graph(std::uint32_t graph_id) : id(graph_id) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::uint32_t id;
  void* handle = nullptr;  // as for nodes

  StreamId origin = 0;  // the stream that the capture began on

  GraphNode& add(GraphWork work, StreamId stream, int ordinal,
                 std::vector<GraphNode*> dependencies) {
    nodes_.push_back(
        std::make_unique<GraphNode>(GraphNode{node_id(id, nodes_.size()), std::move(work), stream,
                                              ordinal, std::move(dependencies), nullptr}));
    return *nodes_.back();
  }
  const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }
  bool owns(const GraphNode* node) const {
    for (const auto& own : nodes_) {
      if (own.get() == node) return true;
    }
    return false;
  }

 private:
  std::vector<std::unique_ptr<GraphNode>> nodes_;
};

}  // namespace symmcts::platform

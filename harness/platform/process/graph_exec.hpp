#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "harness/platform/process/graph.hpp"

namespace symmcts::platform {

// A graph that can be launched: a copy of its nodes, spread over lanes. A lane is a stream: what
// was captured on the stream of the capture runs on the stream of the launch, a branch on a stream
// of the graph's own (measured, fixtures/oracles/h200-x2/copy-paths.txt). Nodes of one lane follow
// each other, all other dependencies are events. Thread safe.
class GraphExec {
 public:
  // `streams` must outlive it. The graph may change or go.
  GraphExec(Streams& streams, const Graph& graph, std::uint32_t exec_id);
  // What is under way runs on (cuda.h:cuGraphExecDestroy).
  ~GraphExec();
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;

  const std::uint32_t id;  // as records show it

  // Enqueues every node behind the work of the stream and behind the launch before
  // (cuda.h:cuGraphLaunch). An error leaves the rest of the nodes out.
  Code launch(StreamId stream, std::uint32_t correlation);

 private:
  // A captured stream: of which of the graphs inside each other. {0, 0}: the launch's own.
  using Where = std::pair<std::size_t, StreamId>;
  struct Step {
    GraphWork work;
    Where captured;
    int ordinal = 0;
    std::uint64_t node = 0;
    std::vector<std::size_t> after;  // earlier steps
    std::size_t lane = 0;
    std::vector<EventId> waits;   // of steps on other lanes
    std::optional<EventId> done;  // somebody on another lane waits for it
  };
  struct Lane {
    int ordinal = 0;
    StreamId stream = 0;  // of lane 0: a substitute for launches from another device; 0: none yet
    EventId end = 0;
    std::optional<std::size_t> last;  // step
  };
  using Ends = std::vector<std::size_t>;

  Ends flatten(const Graph& graph, const Ends& before);
  void choose_lanes();
  std::size_t lane_for(const Step& step);
  std::size_t add_lane(int ordinal);
  void connect();
  Code run(const Step& step, StreamId stream, const Origin& origin);

  Streams& streams_;
  std::mutex mutex_;  // one launch at a time
  std::vector<Step> steps_;
  std::vector<Lane> lanes_;
  std::map<Where, std::size_t> captured_;  // → lane
  std::size_t graphs_ = 0;
  std::uint64_t places_ = 0;
  EventId begin_ = 0, end_ = 0;
};

}  // namespace symmcts::platform

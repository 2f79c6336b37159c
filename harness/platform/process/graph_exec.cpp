#include "harness/platform/process/graph_exec.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace symmcts::platform {
namespace {

template <typename... Each>
struct Cases : Each... {
  using Each::operator()...;
};
template <typename... Each>
Cases(Each...) -> Cases<Each...>;

void join(std::vector<std::size_t>& into, const std::vector<std::size_t>& more) {
  for (const std::size_t each : more) {
    if (std::find(into.begin(), into.end(), each) == into.end()) into.push_back(each);
  }
}

}  // namespace

GraphExec::GraphExec(Streams& streams, const Graph& graph, std::uint32_t exec_id)
    : id(exec_id), streams_(streams) {
  begin_ = streams_.create_event(false);
  end_ = streams_.create_event(false);
  flatten(graph, {});
  choose_lanes();
  connect();
}

GraphExec::~GraphExec() {
  for (const Step& step : steps_) {
    if (step.done) streams_.destroy_event(*step.done);
  }
  for (const Lane& lane : lanes_) {
    if (lane.end != 0) streams_.destroy_event(lane.end);
    if (lane.stream != 0) streams_.destroy(lane.stream);
  }
  streams_.destroy_event(begin_);
  streams_.destroy_event(end_);
}

// Copies the nodes of a graph and of the graphs inside it. `before`: what its first nodes wait for.
// Returns its last steps, or `before` where it has none.
GraphExec::Ends GraphExec::flatten(const Graph& graph, const Ends& before) {
  const std::size_t inside = graphs_++;
  std::map<const GraphNode*, Ends> ends;
  Ends all;
  for (const auto& owned : graph.nodes()) {
    const GraphNode& node = *owned;
    const std::uint64_t place = places_++;
    Ends after = node.dependencies.empty() ? before : Ends{};
    for (const GraphNode* each : node.dependencies) {
      join(after, ends[each]);
      std::erase_if(all, [&](std::size_t step) {
        const Ends& used = ends[each];
        return std::find(used.begin(), used.end(), step) != used.end();
      });
    }
    Ends& mine = ends[&node];
    if (const auto* child = std::get_if<ChildWork>(&node.work)) {
      mine = flatten(*child->graph, after);
    } else if (std::holds_alternative<EmptyWork>(node.work)) {
      mine = after;
    } else {
      mine = {steps_.size()};
      // What the graph inside captured on its first stream goes on where it was launched.
      const bool main = node.stream == graph.origin;
      steps_.push_back({node.work,
                        main ? Where{0, 0} : Where{inside, node.stream},
                        node.ordinal,
                        node_id(id, place),
                        after,
                        0,
                        {},
                        std::nullopt});
    }
    join(all, mine);
  }
  return all.empty() ? before : all;
}

void GraphExec::choose_lanes() {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].lane = lane_for(steps_[i]);
    lanes_[steps_[i].lane].last = i;
  }
}

std::size_t GraphExec::add_lane(int ordinal) {
  Lane lane;
  lane.ordinal = ordinal;
  if (!lanes_.empty()) {
    lane.stream = streams_.create(ordinal, true);
    lane.end = streams_.create_event(false);
  }
  lanes_.push_back(lane);
  return lanes_.size() - 1;
}

// The lane of the captured stream, unless that would order what the graph does not.
std::size_t GraphExec::lane_for(const Step& step) {
  if (lanes_.empty()) add_lane(step.ordinal);
  const auto [at, fresh] = captured_.try_emplace(step.captured, 0);
  if (fresh && step.captured != Where{0, 0}) at->second = add_lane(step.ordinal);
  const Lane& lane = lanes_[at->second];
  const bool ordered =
      !lane.last || std::find(step.after.begin(), step.after.end(), *lane.last) != step.after.end();
  if (!ordered || lane.ordinal != step.ordinal) at->second = add_lane(step.ordinal);
  return at->second;
}

void GraphExec::connect() {
  for (Step& step : steps_) {
    for (const std::size_t before : step.after) {
      Step& other = steps_[before];
      if (other.lane == step.lane) continue;
      if (!other.done) other.done = streams_.create_event(false);
      step.waits.push_back(*other.done);
    }
  }
}

Code GraphExec::launch(StreamId stream, std::uint32_t correlation) {
  std::lock_guard lock(mutex_);
  if (!lanes_.empty() && lanes_[0].ordinal != streams_.device_of(stream) && lanes_[0].stream == 0) {
    lanes_[0].stream = streams_.create(lanes_[0].ordinal, true);
    lanes_[0].end = streams_.create_event(false);
  }
  const auto stream_of = [&](std::size_t lane) {
    const bool main = lane == 0 && lanes_[0].ordinal == streams_.device_of(stream);
    return main ? stream : lanes_[lane].stream;
  };
  Code code = streams_.wait_event(stream, end_);
  const auto then = [&](Code next) {
    if (code == Code::success) code = next;
  };
  then(streams_.record(begin_, stream));
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (stream_of(i) != stream) then(streams_.wait_event(stream_of(i), begin_));
  }
  for (const Step& step : steps_) {
    if (code != Code::success) break;
    const StreamId own = stream_of(step.lane);
    for (const EventId event : step.waits) then(streams_.wait_event(own, event));
    then(run(step, own, {correlation, id, step.node}));
    if (step.done) then(streams_.record(*step.done, own));
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (stream_of(i) == stream) continue;
    then(streams_.record(lanes_[i].end, stream_of(i)));
    then(streams_.wait_event(stream, lanes_[i].end));
  }
  then(streams_.record(end_, stream));
  return code;
}

Code GraphExec::run(const Step& step, StreamId stream, const Origin& origin) {
  return std::visit(
      Cases{[&](const CopyWork& work) { return streams_.copies(stream, work.spans, origin); },
            [&](const FillWork& work) { return streams_.fill(stream, work.shape, origin, true); },
            [&](const WordWork& work) {
              Code code = Code::success;
              for (const WordOperation& each : work.operations) {
                if (code != Code::success) break;
                code = each.wait
                           ? streams_.wait_value(stream, each.address, each.value, each.width,
                                                 each.test)
                           : streams_.write_value(stream, each.address, each.value, each.width);
              }
              return code;
            },
            [&](const HostWork& work) { return streams_.host_function(stream, work.function); },
            [&](const RecordWork& work) { return streams_.record(work.event, stream); },
            [&](const WaitWork& work) { return streams_.wait_event(stream, work.event); },
            [&](const EmptyWork&) { return Code::success; },
            [&](const ChildWork&) { return Code::success; }},
      step.work);
}

}  // namespace symmcts::platform

#include "harness/judge/stream_graph.hpp"

#include <algorithm>
#include <string_view>

namespace symmcts::judge {
namespace {

using evidence::Call;
using evidence::kAbsent;
using evidence::Ns;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Ready later(const Ready& a, const Ready& b) { return a.at > b.at ? a : b; }

std::optional<Ready> later(const Ready& a, const std::optional<Ready>& b) {
  return b ? std::optional<Ready>(later(a, *b)) : std::nullopt;
}

// Calls that put something on a stream which leaves no record that could be joined.
bool is_opaque(std::string_view name) {
  return starts_with(name, "cuLaunch") || has(name, "GraphLaunch") || has(name, "AddCallback") ||
         has(name, "ExternalSemaphores") || has(name, "AttachMemAsync");
}

}  // namespace

StreamGraph::StreamGraph(const evidence::EvidenceSet& set, Ns word_write)
    : word_write_(word_write) {
  by_corr_.resize(set.ranks.size());
  complete_ = set.world <= static_cast<int>(set.ranks.size()) &&
              std::all_of(set.ranks.begin(), set.ranks.end(),
                          [](const auto& rank) { return rank.shows.stream_waits; });
  for (std::size_t i = 0; i < set.ranks.size(); ++i) {
    if (set.ranks[i].shows.stream_waits) {
      add_rank(i, set.ranks[i]);
    }
  }
  bound_from_records();
  // In the order of submission, so that what an operation waits for is mostly known already and the
  // recursion stays shallow.
  std::vector<std::size_t> order(nodes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return nodes_[a].call->t0 < nodes_[b].call->t0;
  });
  for (const std::size_t node : order) {
    done(node);
  }
}

void StreamGraph::add_rank(std::size_t rank, const evidence::RankEvidence& evidence) {
  std::unordered_map<std::int64_t, std::pair<Ns, Ns>> records;
  for (const evidence::Copy& copy : evidence.copies) {
    if (copy.timed()) {
      records[copy.corr] = {copy.start, copy.end};
    }
  }
  for (const evidence::Work& work : evidence.works) {
    records[work.corr] = {work.start, work.end};
  }
  std::map<std::int64_t, std::size_t> last;    // node of a stream
  std::map<std::int64_t, std::size_t> events;  // latest record of an event
  const auto add = [&](std::int64_t stream, Node node) {
    const auto [at, fresh] = last.try_emplace(stream, kNone);
    node.previous = at->second;
    at->second = nodes_.size();
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  };
  for (const Call& call : evidence.calls) {
    if (!call.ok()) {
      continue;
    }
    const evidence::CallArgs& args = call.args;
    const std::int64_t stream = args.stream;
    Node node;
    node.call = &call;
    if (starts_with(call.name, "cuMemcpy") || starts_with(call.name, "cuMemset")) {
      node.kind = Kind::work;
      if (const auto record = records.find(call.corr);
          record != records.end() && call.corr != kAbsent) {
        node.start = record->second.first;
        node.end = record->second.second;
      }
      const std::size_t index = add(stream, std::move(node));
      if (call.corr != kAbsent) {
        by_corr_[rank].emplace(call.corr, index);
      }
    } else if (starts_with(call.name, "cuStreamWriteValue")) {
      node.kind = Kind::write;
      node.writes.push_back({args.value.value_or(0), args.value.has_value()});
      add(stream, std::move(node));
    } else if (starts_with(call.name, "cuStreamWaitValue")) {
      node.kind = Kind::wait;
      node.waits.push_back({args.value.value_or(0), args.value.has_value()});
      add(stream, std::move(node));
    } else if (starts_with(call.name, "cuStreamBatchMemOp")) {
      node.kind = args.words.empty() ? Kind::opaque : Kind::batch;
      for (const evidence::WordOp& word : args.words) {
        (word.write ? node.writes : node.waits).push_back({word.value, true});
      }
      add(stream, std::move(node));
    } else if (starts_with(call.name, "cuEventRecord")) {
      node.kind = Kind::record;
      events[args.event] = add(stream, std::move(node));
    } else if (starts_with(call.name, "cuStreamWaitEvent")) {
      node.kind = Kind::wait_event;
      const auto record = events.find(args.event);
      node.record = record == events.end() ? kNone : record->second;
      add(stream, std::move(node));
    } else if (is_opaque(call.name)) {
      if (stream != kAbsent) {
        add(stream, std::move(node));
      } else {  // on whichever stream
        std::vector<std::int64_t> streams;
        for (const auto& [known, at] : last) {
          streams.push_back(known);
        }
        for (const std::int64_t known : streams) {
          add(known, node);
        }
      }
    }
  }
}

void StreamGraph::bound_from_records() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    node.not_before = node.call->t0;
    if (node.previous != kNone) {
      const Node& previous = nodes_[node.previous];
      node.not_before = std::max(node.not_before, previous.end.value_or(previous.not_before));
    }
    for (const Word& word : node.writes) {
      if (word.known) {
        writers_[word.value].push_back(i);
      }
    }
  }
  // Nodes of a stream follow each other, so one pass backwards carries the next start along.
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const Node& node = nodes_[i];
    if (node.previous != kNone) {
      Node& previous = nodes_[node.previous];
      previous.not_after = std::min(previous.not_after, node.start.value_or(node.not_after));
    }
  }
}

// When the stream had reached `node`, at the latest.
std::optional<Ready> StreamGraph::before(const Node& node) {
  Ready time{node.call->t1, false};
  if (node.start) {
    time.at = std::min(time.at, *node.start);  // a call that blocks returns after its work started
  }
  if (node.previous != kNone) {
    const std::optional<Ready> previous = done(node.previous);
    if (!previous) {
      return std::nullopt;
    }
    time = later(time, *previous);
  }
  return time;
}

// When some write of the value had been made, at the latest: the last of those that can have
// satisfied the wait at all. One that comes after the wait, or that itself depends on it, cannot
// have. A rank without evidence may have made the write, so then there is no bound.
std::optional<Ready> StreamGraph::satisfied(std::size_t node, const Word& word) {
  const auto writers = writers_.find(word.value);
  if (!complete_ || !word.known || writers == writers_.end()) {
    return std::nullopt;
  }
  std::optional<Ready> latest;
  for (const std::size_t writer : writers->second) {
    if (nodes_[writer].not_before > nodes_[node].not_after ||
        nodes_[writer].state == Node::State::busy) {
      continue;
    }
    const std::optional<Ready> time = done(writer);
    if (!time) {
      return std::nullopt;
    }
    latest = latest ? later(*latest, *time) : *time;
  }
  if (latest) {
    latest->after_work = false;  // whatever it waited for ran elsewhere
  }
  return latest;
}

std::optional<Ready> StreamGraph::done(std::size_t index) {
  if (nodes_[index].state != Node::State::open) {
    return nodes_[index].done;
  }
  nodes_[index].state = Node::State::busy;
  std::optional<Ready> time;
  const Kind kind = nodes_[index].kind;
  if (kind == Kind::work) {
    if (nodes_[index].end) {
      time = Ready{*nodes_[index].end, true};
    }
  } else if (kind != Kind::opaque) {
    time = before(nodes_[index]);
    if (time) {  // no record shows when a write was made, so each may have taken its time
      time->at += word_write_ * static_cast<Ns>(nodes_[index].writes.size());
    }
    for (std::size_t i = 0; time && i < nodes_[index].waits.size(); ++i) {
      time = later(*time, satisfied(index, nodes_[index].waits[i]));
    }
    if (time && nodes_[index].record != kNone) {
      time = later(*time, done(nodes_[index].record));
    }
    if (time) {
      time->at = std::min(time->at, nodes_[index].not_after);
    }
  }
  nodes_[index].done = time;
  nodes_[index].state = Node::State::closed;
  return time;
}

std::optional<Ready> StreamGraph::ready(std::size_t rank, std::int64_t corr) {
  const auto at = by_corr_[rank].find(corr);
  if (at == by_corr_[rank].end() || nodes_[at->second].call->args.stream == kAbsent) {
    return std::nullopt;
  }
  std::optional<Ready> time = before(nodes_[at->second]);
  if (time && nodes_[at->second].start) {
    time->at = std::min(time->at, *nodes_[at->second].start);
  }
  return time;
}

}  // namespace symmcts::judge

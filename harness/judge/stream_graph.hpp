#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/evidence/machine.hpp"
#include "harness/judge/pairs.hpp"

namespace symmcts::judge {

// What ran on the streams of all ranks, in submission order, with the edges that the evidence
// shows: stream order, events, and memory words that one rank writes and another waits for. Answers
// when a stream had got past an operation, at the latest. Only for sources that show waits with
// their stream.
class StreamGraph {
 public:
  // `word_write`: how long a write of a memory word may take until a waiting stream has seen it.
  StreamGraph(const evidence::EvidenceSet& set, evidence::Ns word_write);

  // The latest time at which the operation that `corr` submitted on rank number `rank` could have
  // started, its own submission included; nothing where the evidence cannot bound it.
  std::optional<Ready> ready(std::size_t rank, std::int64_t corr);

 private:
  enum class Kind : std::uint8_t { work, write, wait, record, wait_event, batch, opaque };
  static constexpr std::size_t kNone = SIZE_MAX;

  struct Word {
    std::uint64_t value = 0;
    bool known = true;  // false: a wait for something that the evidence does not name
  };
  struct Node {
    Kind kind = Kind::opaque;
    const evidence::Call* call = nullptr;
    std::size_t previous = kNone;  // on the same stream
    std::size_t record = kNone;    // wait_event: the record it waits for
    std::vector<Word> writes;
    std::vector<Word> waits;
    std::optional<evidence::Ns> start;  // work with an activity record
    std::optional<evidence::Ns> end;
    evidence::Ns not_before = 0;         // a lower bound: submitted, and earlier recorded work
    evidence::Ns not_after = INT64_MAX;  // the next recorded work of the stream had started
    enum class State : std::uint8_t { open, busy, closed } state = State::open;
    std::optional<Ready> done;
  };

  void add_rank(std::size_t rank, const evidence::RankEvidence& evidence);
  void bound_from_records();
  std::optional<Ready> done(std::size_t node);
  std::optional<Ready> satisfied(std::size_t node, const Word& word);
  std::optional<Ready> before(const Node& node);

  evidence::Ns word_write_ = 0;
  bool complete_ = false;  // every rank of the job shows its waits and writes
  std::vector<Node> nodes_;
  std::vector<std::unordered_map<std::int64_t, std::size_t>> by_corr_;   // a rank
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> writers_;  // of a value
};

}  // namespace symmcts::judge

#include "harness/judge/pairs.hpp"

#include <algorithm>
#include <map>

namespace symmcts::judge {
namespace {

using evidence::Copy;
using evidence::Ns;

// CUPTI's number for the legacy default stream, which waits for other streams without any call.
constexpr std::int64_t kLegacyStream = 7;
// How many links of a chain are followed, and how many copies back a pair is looked for; more
// proves no more, and a trace of 100,000 copies must not take its square.
constexpr std::size_t kMaxChain = 64;
constexpr std::size_t kMaxBack = 4096;

struct Timed {
  const Copy* copy = nullptr;
  std::size_t operation = 0;
  std::optional<Ready> ready;
};

Ns gap_of(const JudgeOptions& options, const Copy& copy) {
  return copy.kind == evidence::CopyKind::dtod ? options.gap_dtod : options.gap;
}

Ns overlap_of(const Copy& a, const Copy& b) {
  return std::max<Ns>(0, std::min(a.end, b.end) - std::max(a.start, b.start));
}

Ns shorter(const Copy& a, const Copy& b) { return std::min(a.end - a.start, b.end - b.start); }

// The copies of one device in the order of their start.
class Device {
 public:
  Device(const evidence::Capabilities& shows, const JudgeOptions& options,
         std::vector<Timed> copies)
      : shows_(shows), options_(options), copies_(std::move(copies)) {
    std::stable_sort(copies_.begin(), copies_.end(),
                     [](const Timed& a, const Timed& b) { return a.copy->start < b.copy->start; });
    for (const Timed& timed : copies_) {
      longest_ = std::max(longest_, timed.copy->end - timed.copy->start);
    }
  }

  void relate(std::vector<Pair>& out) const {
    for (std::size_t x = 0; x < copies_.size(); ++x) {
      const Copy& later = *copies_[x].copy;
      const Ns since = copies_[x].ready ? copies_[x].ready->at : later.start;
      const std::size_t last = x > kMaxBack ? x - kMaxBack : 0;
      for (std::size_t y = x; y-- > last;) {
        const Copy& earlier = *copies_[y].copy;
        if (earlier.start + longest_ < since) {
          break;  // nothing before this can have run at that time
        }
        if (earlier.stream == later.stream || earlier.end <= since) {
          continue;
        }
        Pair pair = judge_pair(y, x);
        if (pair.relation != Relation::apart) {
          out.push_back(pair);
        }
      }
    }
  }

 private:
  Pair judge_pair(std::size_t y, std::size_t x) const {
    const Copy& earlier = *copies_[y].copy;
    const Copy& later = *copies_[x].copy;
    Pair pair{copies_[y].operation, copies_[x].operation, Relation::unclear,
              overlap_of(earlier, later), 0};
    if (shows_.resolution > 1 && pair.overlap <= 2 * shows_.resolution) {
      pair.overlap = 0;  // whole microseconds: copies that touch may look overlapped
    }
    if (2 * pair.overlap >= shorter(earlier, later)) {
      pair.relation = Relation::overlapped;
      return pair;
    }
    const bool implicit = earlier.stream == kLegacyStream || later.stream == kLegacyStream;
    if (!copies_[x].ready || implicit || !kept_waiting(copies_[x])) {
      pair.relation = pair.overlap > 0 ? Relation::unclear : Relation::apart;
      return pair;
    }
    if (20 * pair.overlap < shorter(earlier, later) && behind(x, y, pair.wait) &&
        !explained(x, y)) {
      pair.relation = Relation::serialized;
    }
    return pair;
  }

  // A start within the gap of its class after it could start is no delay: a launch takes as long,
  // and so does an engine between two copies of one stream (DtoD: only after other work).
  bool kept_waiting(const Timed& timed) const {
    const Ns patience = timed.ready->after_work ? gap_of(options_, *timed.copy) : options_.gap;
    return timed.copy->start - timed.ready->at > patience;
  }

  // A copy of the same kind as `x` ran beside `y` and ended just before `x` started: `x` waited for
  // its own engine, and `y` is not on it.
  bool explained(std::size_t x, std::size_t y) const {
    const Copy& later = *copies_[x].copy;
    const Copy& earlier = *copies_[y].copy;
    for (std::size_t c = x; c-- > 0;) {
      const Copy& other = *copies_[c].copy;
      if (other.start + longest_ + gap_of(options_, later) < later.start) {
        return false;
      }
      Ns ignored = 0;
      if (c != y && other.kind == later.kind && follows(other, later, ignored) &&
          20 * overlap_of(other, earlier) >= shorter(other, earlier)) {
        return true;
      }
    }
    return false;
  }

  // Did `later` start when `earlier` had ended, within the gap of its class?
  bool follows(const Copy& earlier, const Copy& later, Ns& wait) const {
    wait = later.start - earlier.end;
    return wait >= -shorter(earlier, later) / 20 && wait <= gap_of(options_, later);
  }

  // Did `x` start when `y`, or the last of a chain of serialized copies that began with `y`, had
  // ended? `wait` is the time in between. A link of the chain was itself ready, or queued on the
  // same stream, while the link before it ran: copies that merely fill the time prove nothing.
  bool behind(std::size_t x, std::size_t y, Ns& wait) const {
    if (follows(*copies_[y].copy, *copies_[x].copy, wait)) {
      return true;
    }
    std::vector<std::size_t> open{y};  // links of the chain, in order of start
    for (std::size_t c = y + 1; c < x && open.size() < kMaxChain; ++c) {
      const Copy& link = *copies_[c].copy;
      const bool linked = std::any_of(open.begin(), open.end(), [&](std::size_t before) {
        const Copy& previous = *copies_[before].copy;
        const bool queued = previous.stream == link.stream ||
                            (copies_[c].ready && copies_[c].ready->at < previous.end);
        Ns ignored = 0;
        return queued && follows(previous, link, ignored);
      });
      if (linked) {
        open.push_back(c);
        if (link.stream != copies_[x].copy->stream && follows(link, *copies_[x].copy, wait)) {
          return true;
        }
      }
    }
    return false;
  }

  const evidence::Capabilities& shows_;
  const JudgeOptions& options_;
  std::vector<Timed> copies_;
  Ns longest_ = 0;
};

}  // namespace

std::vector<Pair> relate(const evidence::RankEvidence& rank,
                         const std::vector<Operation>& operations,
                         const std::vector<std::optional<Ready>>& ready,
                         const JudgeOptions& options) {
  std::map<int, std::vector<Timed>> devices;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].copy->timed()) {
      devices[operations[i].copy->device].push_back({operations[i].copy, i, ready[i]});
    }
  }
  std::vector<Pair> pairs;
  for (auto& [device, copies] : devices) {
    Device(rank.shows, options, std::move(copies)).relate(pairs);
  }
  return pairs;
}

}  // namespace symmcts::judge

#include "harness/judge/parity.hpp"

#include <algorithm>
#include <set>

namespace symmcts::judge {
namespace {

using evidence::CopyKind;

using Sequence = std::vector<CopyKind>;
using Sequences = std::map<int, Sequence>;

// A record that stands for a batch counts its copies; a count beyond this is damage.
constexpr std::int64_t kMaxBatch = 1 << 20;

std::map<CopyKind, std::int64_t> counts(const Sequence& sequence) {
  std::map<CopyKind, std::int64_t> out;
  for (const CopyKind kind : sequence) {
    ++out[kind];
  }
  return out;
}

// Each has a kind that the other has less of: no choice of which operations correspond makes them
// equal. Where only one has more, the rest of it may be operations that the other never did.
bool contradict(const Sequence& a, const Sequence& b) {
  const auto of_a = counts(a);
  auto of_b = counts(b);
  bool a_more = false;
  bool b_more = false;
  for (const auto& [kind, count] : of_a) {
    a_more = a_more || count > of_b[kind];
    b_more = b_more || count < of_b[kind];
    of_b.erase(kind);
  }
  for (const auto& [kind, count] : of_b) {
    b_more = b_more || count > 0;
  }
  return a_more && b_more;
}

// Ranks unlike the rest: those whose multiset is not the most frequent one. In a tie the multiset
// with more PtoP counts as the rule, because that is what the fixed half of pytorch#192530 shows.
std::vector<int> odd_ranks(const Sequences& kinds, bool multicast) {
  std::map<std::map<CopyKind, std::int64_t>, std::vector<int>> classes;
  for (const auto& [rank, sequence] : kinds) {
    classes[counts(sequence)].push_back(rank);
  }
  const auto peers = [](const std::map<CopyKind, std::int64_t>& count) {
    const auto at = count.find(CopyKind::ptop);
    return at == count.end() ? 0 : at->second;
  };
  const auto rule =
      std::max_element(classes.begin(), classes.end(), [&](const auto& a, const auto& b) {
        const auto weight = [&](const auto& entry) {
          // A multicast write is a peer copy (SM-KIND-2), however many ranks get it wrong.
          return std::pair(multicast ? peers(entry.first) : 0,
                           std::pair(entry.second.size(), peers(entry.first)));
        };
        return weight(a) < weight(b);
      });
  std::vector<int> odd;
  for (auto entry = classes.begin(); entry != classes.end(); ++entry) {
    if (entry != rule) {
      odd.insert(odd.end(), entry->second.begin(), entry->second.end());
    }
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

// Contradiction is not transitive, so every pair of ranks counts; different multisets are few.
bool any_contradict(const Sequences& kinds) {
  std::set<Sequence> distinct;
  for (const auto& [rank, sequence] : kinds) {
    Sequence sorted = sequence;
    std::sort(sorted.begin(), sorted.end());
    distinct.insert(std::move(sorted));
  }
  for (auto a = distinct.begin(); a != distinct.end(); ++a) {
    for (auto b = std::next(a); b != distinct.end(); ++b) {
      if (contradict(*a, *b)) {
        return true;
      }
    }
  }
  return false;
}

// Counts what corresponds, by occurrence. A rank without the operation counts as well as one with
// fewer of it: what the others did there has no counterpart.
void count(ParityGroup& group, std::size_t ranks) {
  std::vector<std::size_t> lengths;
  for (const auto& [rank, sequence] : group.kinds) {
    lengths.push_back(sequence.size());
  }
  lengths.resize(ranks, 0);
  std::sort(lengths.rbegin(), lengths.rend());
  group.compared = ranks > 1 ? static_cast<std::int64_t>(lengths[1]) : 0;
  for (const std::size_t length : lengths) {
    group.unmatched += static_cast<std::int64_t>(length - lengths.back());
  }
  for (std::size_t i = 0; i < lengths.front(); ++i) {
    std::set<CopyKind> here;
    for (const auto& [rank, sequence] : group.kinds) {
      if (i < sequence.size()) {
        here.insert(sequence[i]);
      }
    }
    group.differing += here.size() > 1 ? 1 : 0;
  }
}

void compare(ParityGroup& group, std::size_t ranks, const std::map<Target, Sequences>& by_target) {
  count(group, ranks);
  if (group.differing == 0) {
    return;
  }
  // Known targets explain a difference: a rank's own memory is DtoD, a peer's PtoP. What must agree
  // then is each kind of target by itself.
  if (by_target.count(Target::unknown) == 0) {
    const bool differ = std::any_of(by_target.begin(), by_target.end(),
                                    [](const auto& entry) { return any_contradict(entry.second); });
    group.result = differ ? ParityGroup::Result::differ : ParityGroup::Result::same;
  } else {
    group.result =
        any_contradict(group.kinds) ? ParityGroup::Result::differ : ParityGroup::Result::permuted;
  }
  if (group.result == ParityGroup::Result::differ) {
    group.odd = odd_ranks(group.kinds, group.key.multicast);
  }
}

}  // namespace

std::vector<ParityGroup> compare_kinds(const Context& context, bool signals) {
  std::map<ParityKey, ParityGroup> groups;
  std::map<ParityKey, std::map<Target, Sequences>> targets;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    const int rank = context.set.ranks[i].rank();
    for (const Operation& operation : context.operations[i]) {
      const evidence::Copy& copy = *operation.copy;
      if (!operation.measured || operation.bytes < 0 || operation.signal() != signals) {
        continue;
      }
      const bool host = evidence::is_host_copy(copy.kind);
      const ParityKey key{operation.label, operation.bytes, host,
                          operation.target == Target::multicast};
      ParityGroup& group = groups[key];
      group.key = key;
      const auto copies = static_cast<std::size_t>(std::min(operation.count, kMaxBatch));
      Sequence& all = group.kinds[rank];
      all.insert(all.end(), copies, copy.kind);
      Sequence& of_target = targets[key][operation.target][rank];
      of_target.insert(of_target.end(), copies, copy.kind);
    }
  }
  std::vector<ParityGroup> out;
  for (auto& [key, group] : groups) {
    compare(group, context.set.ranks.size(), targets[key]);
    out.push_back(std::move(group));
  }
  return out;
}

}  // namespace symmcts::judge

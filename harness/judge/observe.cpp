#include "harness/judge/observe.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "harness/judge/words.hpp"

namespace symmcts::judge {
namespace {

using evidence::Copy;

constexpr std::size_t kMaxLines = 12;  // a rank

struct Seen {
  std::vector<evidence::Ns> waits;
};

std::string copy_text(const Copy& copy) {
  return std::string(evidence::name(copy.kind)) + " of " + bytes_text(copy.bytes);
}

std::string pair_text(const Copy& first, const Copy& second, Relation relation) {
  if (relation == Relation::serialized) {
    return copy_text(second) + " serialized behind " + copy_text(first) + " on another stream";
  }
  // Which started first says nothing here; the device copy is the one of interest.
  return evidence::is_device_copy(first.kind) ? copy_text(first) + " overlaps " + copy_text(second)
                                              : copy_text(second) + " overlaps " + copy_text(first);
}

bool of_interest(const Copy& first, const Copy& second, Relation relation) {
  if (relation == Relation::serialized) {
    return true;
  }
  return relation == Relation::overlapped &&
         evidence::is_device_copy(first.kind) != evidence::is_device_copy(second.kind);
}

std::string times_text(std::size_t times) {
  return times == 1 ? "once" : std::to_string(times) + " times";
}

}  // namespace

std::vector<Observation> observe(const Context& context) {
  std::vector<Observation> out;
  for (std::size_t i = 0; i < context.set.ranks.size(); ++i) {
    std::map<std::pair<bool, std::string>, Seen> groups;  // (overlapped, text)
    for (const Pair& pair : context.pairs[i]) {
      const Operation& first = context.operations[i][pair.first];
      const Operation& second = context.operations[i][pair.second];
      if (first.signal() || second.signal() ||
          !of_interest(*first.copy, *second.copy, pair.relation)) {
        continue;
      }
      groups[{pair.relation == Relation::overlapped,
              pair_text(*first.copy, *second.copy, pair.relation)}]
          .waits.push_back(pair.wait);
    }
    std::vector<std::tuple<bool, std::size_t, std::string>> lines;
    for (auto& [key, seen] : groups) {
      std::string text = key.second + ", " + times_text(seen.waits.size());
      if (!key.first) {
        std::sort(seen.waits.begin(), seen.waits.end());
        text += " (starts " + time_text(seen.waits[seen.waits.size() / 2]) + " after its end)";
      }
      lines.emplace_back(key.first, SIZE_MAX - seen.waits.size(), std::move(text));
    }
    std::sort(lines.begin(), lines.end());  // serialized first, the most frequent first
    const int rank = context.set.ranks[i].rank();
    const std::string prefix = "rank " + std::to_string(rank) + ": ";
    for (std::size_t n = 0; n < lines.size(); ++n) {
      if (n == kMaxLines) {
        out.push_back({rank, prefix + std::to_string(lines.size() - n) + " more kinds of pairs"});
        break;
      }
      out.push_back({rank, prefix + std::get<2>(lines[n])});
    }
  }
  return out;
}

}  // namespace symmcts::judge

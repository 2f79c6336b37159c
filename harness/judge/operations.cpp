#include "harness/judge/operations.hpp"

#include <algorithm>
#include <unordered_map>

namespace symmcts::judge {
namespace {

using evidence::Call;
using evidence::Copy;
using evidence::Mark;
using evidence::Place;
using evidence::RankEvidence;

// One measured phase: marks that lines and times are compared with.
struct Window {
  std::size_t first_line = 0;
  std::size_t last_line = SIZE_MAX;
  evidence::Ns first = 0;
  evidence::Ns last = INT64_MAX;
  std::string label;
};

struct Windows {
  bool whole_file = true;
  std::vector<Window> list;
};

Windows read_windows(const RankEvidence& rank) {
  Windows windows;
  bool open = false;
  for (const Mark& mark : rank.marks) {
    if (mark.what == "case-begin") {
      windows.whole_file = false;
    } else if (mark.what == "measure-begin") {
      windows.whole_file = false;
      windows.list.push_back({mark.line, SIZE_MAX, mark.t, INT64_MAX, mark.label});
      open = true;
    } else if (mark.what == "measure-end" && open) {
      windows.list.back().last_line = mark.line;
      windows.list.back().last = mark.t;
      open = false;
    }
  }
  return windows;
}

void place_in_window(const Windows& windows, Operation& operation) {
  operation.measured = windows.whole_file;
  for (const Window& window : windows.list) {
    const bool inside =
        operation.call != nullptr
            ? operation.call->line > window.first_line && operation.call->line < window.last_line
            : operation.copy->start >= window.first && operation.copy->start <= window.last;
    if (inside) {
      operation.measured = true;
      operation.label = window.label;
    }
  }
}

Target target_of(const Place& place, const RankObjects& objects) {
  if (place.kind == Place::Kind::alloc) {
    return Target::own;
  }
  const MappingFact* mapping =
      place.kind == Place::Kind::mapping ? objects.mapping(place.number) : nullptr;
  if (mapping == nullptr) {
    return Target::unknown;
  }
  if (mapping->multicast) {
    return Target::multicast;
  }
  return mapping->provenance == Provenance::native     ? Target::own
         : mapping->provenance == Provenance::imported ? Target::peer
                                                       : Target::unknown;
}

Target target_of(const Operation& operation, const RankObjects& objects) {
  if (evidence::is_host_copy(operation.copy->kind) &&
      operation.copy->kind != evidence::CopyKind::htod) {
    return Target::host;
  }
  if (operation.call == nullptr) {
    return Target::unknown;
  }
  const evidence::CallArgs& args = operation.call->args;
  if (args.batch.empty()) {
    return target_of(args.dst, objects);
  }
  const Target first = target_of(args.batch.front(), objects);
  const bool same = std::all_of(args.batch.begin(), args.batch.end(), [&](const Place& place) {
    return target_of(place, objects) == first;
  });
  return same ? first : Target::unknown;
}

// A merged batch of peer copies is one record without a count (hardware/copy-records): the call
// knows how many there were.
void count_batches(std::vector<Operation>& operations) {
  std::unordered_map<const Call*, int> records;
  for (const Operation& operation : operations) {
    ++records[operation.call];
  }
  for (Operation& operation : operations) {
    if (operation.call != nullptr && records[operation.call] == 1 && operation.count == 1) {
      operation.count =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(operation.call->args.batch.size()));
    }
    if (operation.count > 1 && operation.bytes % operation.count == 0) {
      operation.bytes /= operation.count;
    }
  }
}

}  // namespace

const char* name(Target target) {
  switch (target) {
    case Target::multicast:
      return "multicast";
    case Target::own:
      return "own memory";
    case Target::peer:
      return "peer memory";
    case Target::host:
      return "host memory";
    case Target::unknown:
      break;
  }
  return "unknown";
}

std::vector<Operation> operations(const RankEvidence& rank, const RankObjects& objects) {
  std::unordered_map<std::int64_t, const Call*> by_corr;
  for (const Call& call : rank.calls) {
    if (call.corr != evidence::kAbsent) {
      by_corr.emplace(call.corr, &call);
    }
  }
  const Windows windows = read_windows(rank);
  std::vector<Operation> out;
  out.reserve(rank.copies.size());
  for (const Copy& copy : rank.copies) {
    Operation operation;
    operation.copy = &copy;
    if (const auto call = by_corr.find(copy.corr); call != by_corr.end()) {
      operation.call = call->second;
    }
    operation.bytes = copy.bytes;
    operation.count = copy.copies;
    operation.target = target_of(operation, objects);
    place_in_window(windows, operation);
    out.push_back(std::move(operation));
  }
  count_batches(out);
  std::stable_sort(out.begin(), out.end(), [](const Operation& a, const Operation& b) {
    return a.copy->corr != b.copy->corr ? a.copy->corr < b.copy->corr
                                        : a.copy->start < b.copy->start;
  });
  return out;
}

}  // namespace symmcts::judge

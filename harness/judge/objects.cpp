#include "harness/judge/objects.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace symmcts::judge {
namespace {

using evidence::Call;
using evidence::Mark;
using evidence::RankEvidence;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string group_at(const RankEvidence& rank, std::size_t line) {
  std::string group;
  for (const Mark& mark : rank.marks) {
    if (mark.what == "group" && mark.line < line) {
      group = mark.group;
    }
  }
  return group;
}

void replay(const RankEvidence& rank, const Call& call, RankObjects& objects) {
  const evidence::CallArgs& args = call.args;
  if (call.name == "cuMemCreate" || call.name == "cuMulticastCreate") {
    HandleFact& handle = objects.handles[args.handle];
    handle = HandleFact{};
    handle.provenance = Provenance::native;
    handle.multicast = call.name == "cuMulticastCreate";
    handle.made = &call;
    objects.creator = objects.creator || handle.multicast;
  } else if (call.name == "cuMemImportFromShareableHandle") {
    HandleFact& handle = objects.handles[args.handle];
    handle = HandleFact{};
    handle.provenance = Provenance::imported;
    handle.token = args.token;
    handle.route = args.route;
    handle.made = &call;
  } else if (call.name == "cuMemExportToShareableHandle") {
    objects.exports.push_back({args.handle, args.route, args.token, &call});
  } else if (call.name == "cuMemRetainAllocationHandle") {
    ++objects.handles[args.handle].references;
  } else if (call.name == "cuMemRelease") {
    HandleFact& handle = objects.handles[args.handle];
    if (--handle.references == 0) {
      handle.released = &call;
    }
  } else if (call.name == "cuMemMap") {
    objects.by_number[args.mapping] = objects.mappings.size();
    objects.mappings.push_back({.number = args.mapping,
                                .handle = args.handle,
                                .group = group_at(rank, call.line),
                                .made = &call});
  } else if (call.name == "cuMemUnmap") {
    for (const std::int64_t number : args.mappings) {
      const auto at = objects.by_number.find(number);
      if (at != objects.by_number.end()) objects.mappings[at->second].unmapped = &call;
    }
  } else if (starts_with(call.name, "cuMulticastAddDevice") ||
             starts_with(call.name, "cuMulticastBind") ||
             starts_with(call.name, "cuMulticastUnbind")) {
    objects.handles[args.handle].multicast = true;
  }
}

// Precondition: all calls of the rank have been replayed.
void find_undone(const RankEvidence& rank, RankObjects& objects) {
  std::vector<std::size_t> ready;  // lines, ascending
  for (const Mark& mark : rank.marks) {
    if (mark.what == "phase" && mark.phase == "ready") ready.push_back(mark.line);
  }
  if (ready.empty()) return;
  for (MappingFact& mapping : objects.mappings) {
    if (mapping.unmapped == nullptr) continue;
    const auto next = std::upper_bound(ready.begin(), ready.end(), mapping.made->line);
    mapping.undone = next == ready.end() || *next > mapping.unmapped->line;
  }
}

}  // namespace

const char* name(Provenance provenance) {
  switch (provenance) {
    case Provenance::native:
      return "native";
    case Provenance::imported:
      return "imported";
    case Provenance::unknown:
      break;
  }
  return "unknown";
}

const MappingFact* RankObjects::mapping(std::int64_t number) const {
  const auto at = by_number.find(number);
  return at == by_number.end() ? nullptr : &mappings[at->second];
}

std::vector<RankObjects> read_objects(const evidence::EvidenceSet& set) {
  std::vector<RankObjects> all(set.ranks.size());
  std::set<std::string> multicast_tokens;
  for (std::size_t i = 0; i < set.ranks.size(); ++i) {
    if (!set.ranks[i].shows.provenance) {
      continue;
    }
    for (const Call& call : set.ranks[i].calls) {
      if (call.ok()) {
        replay(set.ranks[i], call, all[i]);
      }
    }
    find_undone(set.ranks[i], all[i]);
    for (const ExportFact& fact : all[i].exports) {
      if (!fact.token.empty() && all[i].handles[fact.handle].multicast) {
        multicast_tokens.insert(fact.token);
      }
    }
  }
  for (RankObjects& objects : all) {
    for (auto& [number, handle] : objects.handles) {
      handle.multicast = handle.multicast || multicast_tokens.count(handle.token) > 0;
    }
    for (MappingFact& mapping : objects.mappings) {
      const auto handle = objects.handles.find(mapping.handle);
      if (handle != objects.handles.end()) {
        mapping.provenance = handle->second.provenance;
        mapping.multicast = handle->second.multicast;
      }
    }
  }
  return all;
}

std::vector<int> group_ranks(const evidence::EvidenceSet& set, const std::string& group) {
  std::set<int> ranks;
  for (const RankEvidence& rank : set.ranks) {
    for (const Mark& mark : rank.marks) {
      if (mark.what == "group" && mark.group == group) {
        ranks.insert(mark.ranks.begin(), mark.ranks.end());
      }
    }
  }
  if (ranks.empty()) {
    for (const RankEvidence& rank : set.ranks) {
      ranks.insert(rank.rank());
    }
    for (int rank = 0; rank < set.world; ++rank) {
      ranks.insert(rank);
    }
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace symmcts::judge
